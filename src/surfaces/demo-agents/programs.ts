import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { git } from './repository.ts';
import { Actor } from './stage.ts';
import { claimAndStart } from './stories/workflow.ts';

const VERDICTS = [
  {
    feedback_type: 'needs_work',
    priority: 'high',
    feedback: 'The cart rounds now, but checkout() still adds unrounded line totals: 3 × 0.35 is charged as 1.0499.',
    actionable_items: ['Round the sum in src/checkout.ts', 'Add a test with three lines of 0.35'],
  },
  {
    feedback_type: 'suggestions',
    priority: 'normal',
    feedback: 'The totals are correct. The helper name r() does not say what it does.',
    actionable_items: ['Rename r() to rounded()'],
  },
  {
    feedback_type: 'needs_work',
    priority: 'normal',
    feedback: 'test/cart.test.ts still duplicates the rounding instead of using rounded().',
    actionable_items: ['Import rounded() in test/cart.test.ts'],
  },
] as const;

/** An agent whose prompt contains this text waits instead of finishing. */
export const WAITS = 'Wait for review:';

/** The pause after each printed line, so that a person can read along. */
const PACE_MS = 700;

/** Plays an agent that the server has started. The agent runs in its own worktree, has its token in the environment, and has its prompt in a file. */
export async function actAsAgent(env: NodeJS.ProcessEnv): Promise<never> {
  const me = String(env.COVENANT_INSTANCE_ID);
  const actor = new Actor(me, String(env.COVIBE_BASE_URL), String(env.COVIBE_MCP_TOKEN));
  const say = async (line: string) => {
    process.stdout.write(`${line}\n`);
    await pause(PACE_MS);
  };
  await say(`\u001b[1m${me}\u001b[0m in ${process.cwd()}`);
  if (me.includes('review-')) await reviewing(actor, say);
  else await coding(actor, say);
  // The process keeps running, like an agent that waits for its next prompt.
  for (;;) await pause(60_000);
}

type Say = (line: string) => Promise<void>;

async function coding(actor: Actor, say: Say): Promise<void> {
  const waits = readFileSync('.covenant/prompt.md', 'utf8').includes(WAITS);
  for (let round = 1; ; round++) {
    await say(`\u001b[34m●\u001b[0m Reading src/checkout.ts`);
    writeFileSync('src/checkout.ts', source(round));
    await say(`\u001b[32m✓\u001b[0m Changed src/checkout.ts (round ${round})`);
    git('.', 'add', '--', 'src/checkout.ts');
    git('.', 'commit', '--quiet', '--message', `Round prices in checkout, round ${round}`);
    if (round === 1) writeFileSync('notes.md', 'TODO: check rounding of discounts before the pull request.\n');
    const before = head();
    const answer = await actor.ask('request_review', {
      completion_message: `Prices in src/checkout.ts are rounded to whole cents (round ${round}). Please check the totals.`,
      ...(waits && { reviewer_prompt: `${WAITS} start when the author asks.` }),
    });
    if (answer.error ?? answer.code) return await say(`\u001b[31m✕\u001b[0m ${String(answer.message)}`);
    await say('Review requested. Waiting for feedback.');
    if (waits) return;
    while (head() === before) await pause(PACE_MS);
    // The server writes the feedback file after the commit, so wait for it.
    await pause(PACE_MS);
    const feedback = existsSync('REVIEW_FEEDBACK.md') ? readFileSync('REVIEW_FEEDBACK.md', 'utf8') : '';
    await say(feedback.split('\n').slice(0, 12).join('\n'));
  }
}

const head = (): string => execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();

async function reviewing(actor: Actor, say: Say): Promise<void> {
  const subject = git('.', 'log', '-1', '--format=%s');
  const round = Number(/round (\d+)/.exec(subject)?.[1] ?? 1);
  await say(`Reviewing: ${subject}`);
  if (readFileSync('.covenant/prompt.md', 'utf8').includes(WAITS)) return;
  await say(git('.', 'diff', '--stat', 'HEAD~1'));
  await actor.ask('send_feedback', VERDICTS[(round - 1) % VERDICTS.length] ?? VERDICTS[0]);
  await say('Feedback sent.');
}

const source = (round: number): string =>
  `import { total, type Line } from './cart.ts';\n\nconst ${round > 2 ? 'rounded' : 'r'} = (sum: number) => Math.round(sum * 100) / 100;\n\n` +
  `/** Round ${round}. */\nexport const checkout = (lines: Line[]) => ({ due: ${round > 2 ? 'rounded' : 'r'}(total(lines, () => 1)) });\n`;

/** Plays a worker that never finishes. The worker claims a task, records two checkpoints, reports that it is at work, and waits until it is killed. */
export async function workUntilKilled(env: NodeJS.ProcessEnv): Promise<never> {
  const task_id = String(env.DEMO_TASK);
  const actor = new Actor('gemini@li', String(env.DEMO_URL), String(env.DEMO_TOKEN));
  const { id } = await actor.call('agent_register', { name: 'gemini@li nightly', runtime: 'gemini', capabilities: ['typescript'] });
  const claim = await claimAndStart({ actor, id: String(id) }, task_id);
  await actor.call('checkpoint_add', {
    task_id,
    type: 'decision',
    summary: 'Store sessions in their own table instead of a column of users.',
    files_changed: ['db/schema.sql'],
    ...claim,
  });
  const progress = { type: 'progress', summary: 'Created table sessions; 2 of 5 readers use it.', files_changed: ['src/session.ts'] };
  await actor.call('checkpoint_add', { task_id, ...progress, ...claim });
  process.stdout.write('at work\n');
  for (;;) await pause(60_000);
}
