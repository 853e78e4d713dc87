import { type Actor, ARROW, type DemoAnswer, type Story, text } from '../stage.ts';

const FEATURE = { task_type: 'feature', component: 'server' };
const ROTATE = {
  ...FEATURE,
  title: 'Rotate session tokens at sign-in',
  scope: 'Give a session a new token whenever its user signs in',
  action: 'modify',
  target_files: ['src/session.ts', 'src/login.ts'],
};
const RENEW = {
  ...FEATURE,
  title: 'Renew the session token on every login',
  scope: 'Issue a fresh session token each time a user logs in',
  action: 'modify',
  target_files: ['src/login.ts', 'src/session.ts'],
};
const EXPIRE = {
  ...FEATURE,
  title: 'Expire session tokens after a day of silence',
  scope: 'Remove sessions whose token was not used for a day',
  action: 'create',
  target_files: ['src/session.ts'],
};
const MIGRATE = {
  title: 'Move the users table to its new schema',
  scope: 'Migrate users to schema two',
  task_type: 'chore',
  component: 'db',
  target_files: ['db/schema.sql'],
};
const DELIVERY = { title: 'Show the delivery date in the cart', task_type: 'feature', component: 'ui', target_files: ['src/cart.ts'] };
const ROUND = {
  title: 'Round prices to whole cents',
  scope: 'Prices in the cart never have fractions of a cent',
  task_type: 'bug',
  component: 'server',
  target_files: ['src/cart.ts'],
};

/** Two agents want the same in other words; a third wants what only looks alike. */
export const overlap: Story = {
  title: 'two agents, same work',
  steps: 2,
  async tell({ cast: { claude, codex, cursor, gemini }, beat, done }) {
    await begin(claude, ROTATE);
    await beat();
    const checked = await codex.call('covibe_task check', RENEW);
    const refused = await codex.ask('covibe_task start', RENEW);
    done(`two agents, same work, other words ${ARROW} ${refused.status === 'blocked' ? 'blocked' : String(refused.status)}`);
    await beat();
    // It looks, and agrees.
    await codex.ask('covibe_task start', { ...RENEW, ...verdict(checked, true, 'Both give a session a new token at sign-in.') });

    await beat();
    const looked = await cursor.call('covibe_task check', EXPIRE);
    await cursor.ask('covibe_task start', { ...EXPIRE, ...verdict(looked, false, 'Ends old sessions; the other changes tokens of new ones.') });
    done(`what only looks alike ${ARROW} judged distinct, started`);

    await beat();
    await begin(gemini, MIGRATE);
    await codex.ask('covibe_task plan', DELIVERY);
    await claude.call('covibe_note', { kind: 'decision', title: 'Session tokens are opaque', body: 'No claims inside: they can be revoked at once.' });
    const { task_id } = await begin(codex, ROUND);
    await codex.call('covibe_task complete', { task_id, result_summary: 'Prices are rounded where they are added up.' });
  },
};

/** Checks, judges what has to be judged as distinct, and starts. */
async function begin(actor: Actor, task: object): Promise<DemoAnswer> {
  const checked = await actor.call('covibe_task check', task);
  return await actor.call('covibe_task start', { ...task, ...verdict(checked, false, 'Another part of the shop.') });
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

/** Code that somebody holds, a question that nobody has answered, and work that changes hands. */
export const coordination: Story = {
  title: 'a claimed edit',
  steps: 2,
  async tell({ cast: { claude, codex, gemini }, beat, done }) {
    const repo = 'shop';
    await claude.call('covibe_coordination claim', { repo, paths: ['src/session.ts', 'src/login.ts'], reason: 'Rotating session tokens' });
    await beat();
    const denied = await codex.ask('covibe_coordination claim', { repo, paths: ['src/login.ts'], reason: 'Renewing tokens' });
    done(`edit of a claimed file ${ARROW} ${denied.status === 'blocked' ? 'denied' : String(denied.status)}`);
    await codex.call('covibe_coordination claim', { repo, paths: ['src/cart.ts'], mode: 'shared', reason: 'Prices' });

    await beat();
    const asked = await codex.call('covibe_coordination ask', { to: 'claude-code@ana', message: 'May I rename login() once you are done?', repo });
    await claude.call('covibe_coordination reply', { ask_id: asked.ask_id, message: 'Yes; I release it within the hour.' });
    await gemini.call('covibe_coordination ask', { to: 'ana', message: 'Which of the two user tables is the true one?', due_in_minutes: 5, repo });
    await gemini.call('covibe_coordination announce', { message: 'db/schema.sql changes today: pull before you touch it.', repo, paths: ['db/schema.sql'] });

    await codex.call('covibe_session publish_context', {
      title: 'Rounding of prices',
      summary: 'Done in the cart; checkout still adds fractions.',
      repo,
      files_touched: ['src/cart.ts'],
      next_actions: ['Use total() in checkout'],
    });
    await beat();
    const offer = await codex.call('covibe_coordination handoff', { to: 'claude-code@ana', message: 'Please finish the rounding in checkout.', repo });
    await claude.call('covibe_coordination accept_handoff', { handoff_id: offer.handoff_id });
    done('an ask that nobody has answered, a hand-off that was taken');
  },
};

/** What the agents used. Of one model nobody has told the price. */
export const usage: Story = {
  title: 'usage',
  steps: 1,
  async tell({ cast: { claude, codex, cursor, gemini }, done }) {
    const report = async (actor: Actor, model: string, input_tokens: number, cached_input_tokens: number, output_tokens: number) => {
      const payload = { direct_counts: { model, input_tokens, cached_input_tokens, output_tokens } };
      await actor.call('covibe_ingest_agent_telemetry', { source: 'proxy', payload, session_id: actor.session });
    };
    await report(claude, 'claude-sonnet-4-5', 182_400, 121_000, 9_120);
    await report(claude, 'claude-sonnet-4-5', 96_050, 61_700, 4_310);
    await report(codex, 'gpt-5', 143_900, 88_000, 7_450);
    await report(cursor, 'gpt-5-mini', 51_300, 20_480, 2_205);
    await report(gemini, 'house-model-7b', 75_000, 0, 3_900);
    done('usage, one model without a price');
  },
};
