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
    feedback: 'Checkout still adds fractions of a cent.',
    actionable_items: ['Round in checkout too', 'Add a test with 0.1 + 0.2'],
  },
  {
    feedback_type: 'suggestions',
    priority: 'normal',
    feedback: 'Right now. The helper could have a better name.',
    actionable_items: ['Rename r() to rounded()'],
  },
  { feedback_type: 'needs_work', priority: 'normal', feedback: 'The new name is not used in the test.', actionable_items: ['Use rounded() in the test'] },
] as const;

/** Whose prompt has it, waits. */
export const WAITS = 'Take your time:';

/** So that a person who looks on can read along. */
const PACE_MS = 700;

/** An agent as the server starts it: in a worktree of its own, with its token in the environment and its task in a file. */
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
  // It stays, as an agent does that waits for the next word.
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
    if (round === 1) writeFileSync('notes.md', 'Not committed: what I still want to look at.\n');
    const before = head();
    const answer = await actor.ask('request_review', {
      completion_message: `Round ${round} is done; please look at src/checkout.ts.`,
      ...(waits && { reviewer_prompt: `${WAITS} look at it when somebody asks you to.` }),
    });
    if (answer.error ?? answer.code) return await say(`\u001b[31m✕\u001b[0m ${String(answer.message)}`);
    await say('Review requested, waiting.');
    if (waits) return;
    while (head() === before) await pause(PACE_MS);
    // The files follow the commit.
    await pause(PACE_MS);
    const feedback = existsSync('REVIEW_FEEDBACK.md') ? readFileSync('REVIEW_FEEDBACK.md', 'utf8') : '';
    await say(feedback.split('\n').slice(0, 12).join('\n'));
  }
}

const head = (): string => execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();

async function reviewing(actor: Actor, say: Say): Promise<void> {
  const subject = git('.', 'log', '-1', '--format=%s');
  const round = Number(/round (\d+)/.exec(subject)?.[1] ?? 1);
  await say(`Looking at: ${subject}`);
  if (readFileSync('.covenant/prompt.md', 'utf8').includes(WAITS)) return;
  await say(git('.', 'diff', '--stat', 'HEAD~1'));
  await actor.ask('send_feedback', VERDICTS[(round - 1) % VERDICTS.length] ?? VERDICTS[0]);
  await say('Feedback sent.');
}

const source = (round: number): string =>
  `import { total, type Line } from './cart.ts';\n\nconst ${round > 2 ? 'rounded' : 'r'} = (sum: number) => Math.round(sum * 100) / 100;\n\n` +
  `/** Round ${round}. */\nexport const checkout = (lines: Line[]) => ({ due: ${round > 2 ? 'rounded' : 'r'}(total(lines, () => 1)) });\n`;

/** A worker that never finishes: it claims its task, leaves two checkpoints, says so, and waits for its end. */
export async function workUntilKilled(env: NodeJS.ProcessEnv): Promise<never> {
  const task_id = String(env.DEMO_TASK);
  const actor = new Actor('gemini@li', String(env.DEMO_URL), String(env.DEMO_TOKEN));
  const { id } = await actor.call('agent_register', { name: 'gemini@li night shift', runtime: 'gemini', capabilities: ['typescript'] });
  const claim = await claimAndStart({ actor, id: String(id) }, task_id);
  await actor.call('checkpoint_add', { task_id, type: 'decision', summary: 'Sessions get a table of their own.', files_changed: ['db/schema.sql'], ...claim });
  const progress = { type: 'progress', summary: 'The table is there; moving readers to it.', files_changed: ['src/session.ts'] };
  await actor.call('checkpoint_add', { task_id, ...progress, ...claim });
  process.stdout.write('at work\n');
  for (;;) await pause(60_000);
}
