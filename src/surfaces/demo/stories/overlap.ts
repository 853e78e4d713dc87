import type { Actor, DemoAnswer } from '../actor.ts';
import type { Stage, Story } from '../stage.ts';
import { text } from '../stage.ts';

const ROTATE = {
  title: 'Rotate session tokens at sign-in',
  scope: 'Give a session a new token whenever its user signs in',
  task_type: 'feature',
  action: 'modify',
  component: 'server',
  target_files: ['src/session.ts', 'src/login.ts'],
};
const RENEW = {
  title: 'Renew the session token on every login',
  scope: 'Issue a fresh session token each time a user logs in',
  task_type: 'feature',
  action: 'modify',
  component: 'server',
  target_files: ['src/login.ts', 'src/session.ts'],
};
const EXPIRE = {
  title: 'Expire session tokens after a day of silence',
  scope: 'Remove sessions whose token was not used for a day',
  task_type: 'feature',
  action: 'create',
  component: 'server',
  target_files: ['src/session.ts'],
};

/** Two agents want the same in other words; a third wants what only looks alike. */
export const overlap: Story = { title: 'two agents, same work', steps: 2, tell };

async function tell(stage: Stage): Promise<void> {
  const [claude, codex, cursor, gemini] = await Promise.all(['claude-code@ana', 'codex@mira', 'cursor@ana', 'gemini@li'].map((name) => stage.actor(name)));
  if (!claude || !codex || !cursor || !gemini) return;
  await begin(claude, ROTATE);
  await stage.beat();
  const checked = await codex.call('covibe_task', { operation: 'check', ...RENEW });
  const refused = await codex.ask('covibe_task', { operation: 'start', ...RENEW });
  stage.done(`two agents, same work, other words ${arrow} ${refused.status === 'blocked' ? 'blocked' : String(refused.status)}`);
  await stage.beat();
  // It looks, and agrees.
  await codex.ask('covibe_task', { operation: 'start', ...RENEW, ...verdict(checked, true, 'Both give a session a new token at sign-in.') });

  await stage.beat();
  const looked = await cursor.call('covibe_task', { operation: 'check', ...EXPIRE });
  await cursor.ask('covibe_task', { operation: 'start', ...EXPIRE, ...verdict(looked, false, 'Ends old sessions; the other changes tokens of new ones.') });
  stage.done(`what only looks alike ${arrow} judged distinct, started`);

  await stage.beat();
  await begin(gemini, {
    title: 'Move the users table to its new schema',
    scope: 'Migrate users to schema two',
    task_type: 'chore',
    component: 'db',
    target_files: ['db/schema.sql'],
  });
  await codex.ask('covibe_task', {
    operation: 'plan',
    title: 'Show the delivery date in the cart',
    task_type: 'feature',
    component: 'ui',
    target_files: ['src/cart.ts'],
  });
  await claude.call('covibe_note', { kind: 'decision', title: 'Session tokens are opaque', body: 'No claims inside: they can be revoked at once.' });
  const { task_id } = await begin(codex, {
    title: 'Round prices to whole cents',
    scope: 'Prices in the cart never have fractions of a cent',
    task_type: 'bug',
    component: 'server',
    target_files: ['src/cart.ts'],
  });
  await codex.call('covibe_task', { operation: 'complete', task_id, result_summary: 'Prices are rounded where they are added up.' });
}

export const arrow = '→';

/** Checks, judges what has to be judged as distinct, and starts. */
async function begin(actor: Actor, task: object): Promise<DemoAnswer> {
  const checked = await actor.call('covibe_task', { operation: 'check', ...task });
  return await actor.call('covibe_task', { operation: 'start', ...task, ...verdict(checked, false, 'Another part of the shop.') });
}

function verdict(checked: DemoAnswer, same: boolean, reason: string): object {
  const candidates = (checked.candidates ?? []) as DemoAnswer[];
  if (checked.requires_verdict !== true)
    return checked.warning_id ? { check_id: checked.check_id, warning_id: text(checked, 'warning_id'), confirmation_reason: reason } : {};
  return {
    check_id: checked.check_id,
    scope_verdict: { verdict: same ? 'duplicate' : 'distinct', candidates: candidates.map((candidate) => ({ id: candidate.id, same_scope: same, reason })) },
  };
}
