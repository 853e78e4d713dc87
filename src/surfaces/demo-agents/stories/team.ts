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
  title: 'Expire session tokens after 24 hours without use',
  scope: 'Remove sessions whose token was not used for 24 hours',
  action: 'create',
  target_files: ['src/session.ts'],
};
const MIGRATE = {
  title: 'Add email and locale columns to the users table',
  scope: 'Migration 0007: add the columns and backfill existing users',
  task_type: 'chore',
  component: 'db',
  target_files: ['db/schema.sql'],
};
const DELIVERY = { title: 'Show the delivery date in the cart', task_type: 'feature', component: 'ui', target_files: ['src/cart.ts'] };
const ROUND = {
  title: 'Round prices to whole cents',
  scope: 'Round line totals in the cart, so that the sum matches the invoice',
  task_type: 'bug',
  component: 'server',
  target_files: ['src/cart.ts'],
};

/** Two agents plan the same task in different words. A third agent plans a task that only looks similar. */
export const overlap: Story = {
  title: 'two agents, same task',
  steps: 2,
  async tell({ cast: { claude, codex, cursor, gemini }, beat, done }) {
    await begin(claude, ROTATE);
    await beat();
    const checked = await codex.call('covibe_task check', RENEW);
    const refused = await codex.ask('covibe_task start', RENEW);
    done(`two agents, same task in different words ${ARROW} ${refused.status === 'blocked' ? 'blocked' : String(refused.status)}`);
    await beat();
    // The agent compares the tasks and judges them as duplicates.
    await codex.ask('covibe_task start', { ...RENEW, ...verdict(checked, true, 'Both issue a new session token at sign-in in src/login.ts.') });

    await beat();
    const looked = await cursor.call('covibe_task check', EXPIRE);
    await cursor.ask('covibe_task start', {
      ...EXPIRE,
      ...verdict(looked, false, 'This removes unused sessions. The other task changes the token of new sessions.'),
    });
    done(`similar task ${ARROW} judged distinct, started`);

    await beat();
    await begin(gemini, MIGRATE);
    await codex.ask('covibe_task plan', DELIVERY);
    await claude.call('covibe_note', {
      kind: 'decision',
      title: 'Session tokens are opaque',
      body: 'No JWT claims, so that a session can be revoked immediately.',
    });
    const { task_id } = await begin(codex, ROUND);
    await codex.call('covibe_task complete', { task_id, result_summary: 'total() in src/cart.ts rounds to whole cents. 4 tests added.' });
  },
};

const TRIES = 3;

/** Checks the task, judges every candidate as distinct, and starts it. If work that another story planned in the meantime blocks the start, checks again. */
async function begin(actor: Actor, task: object): Promise<DemoAnswer> {
  for (let tried = 1; ; tried++) {
    const checked = await actor.call('covibe_task check', task);
    const started = await actor.ask('covibe_task start', { ...task, ...verdict(checked, false, 'Changes a different part of the shop.') });
    if (started.status === 'ok' || started.status === 'warning') return started.data as DemoAnswer;
    if (tried === TRIES) throw new Error(`${actor.name} covibe_task start: ${JSON.stringify(started)}`);
  }
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

/** One agent claims a file that another agent then wants. Two agents ask questions, one of which stays unanswered. A hand-off is accepted. */
export const coordination: Story = {
  title: 'claims and messages',
  steps: 2,
  async tell({ cast: { claude, codex, gemini }, beat, done }) {
    const repo = 'shop';
    await claude.call('covibe_coordination claim', { repo, paths: ['src/session.ts', 'src/login.ts'], reason: 'Rotate session tokens at sign-in' });
    await beat();
    const denied = await codex.ask('covibe_coordination claim', { repo, paths: ['src/login.ts'], reason: 'Renew the session token on login' });
    done(`claim on a claimed file ${ARROW} ${denied.status === 'blocked' ? 'denied' : String(denied.status)}`);
    await codex.call('covibe_coordination claim', { repo, paths: ['src/cart.ts'], mode: 'shared', reason: 'Round prices to whole cents' });

    await beat();
    const asked = await codex.call('covibe_coordination ask', {
      to: 'claude-code@ana',
      message: 'Can I rename login() to signIn() when you are done with src/login.ts?',
      repo,
    });
    await claude.call('covibe_coordination reply', { ask_id: asked.ask_id, message: 'Yes. I expect to release src/login.ts within an hour.' });
    await gemini.call('covibe_coordination ask', {
      to: 'ana',
      message: 'Which table is the source of truth for customers: users or legacy_users?',
      due_in_minutes: 5,
      repo,
    });
    await gemini.call('covibe_coordination announce', {
      message: 'Migration 0007 changes db/schema.sql today. Pull before you edit it.',
      repo,
      paths: ['db/schema.sql'],
    });

    await codex.call('covibe_session publish_context', {
      title: 'Round prices to whole cents',
      summary: 'Done in src/cart.ts. src/checkout.ts still adds unrounded line totals.',
      repo,
      files_touched: ['src/cart.ts'],
      next_actions: ['Use total() from src/cart.ts in src/checkout.ts'],
    });
    await beat();
    const offer = await codex.call('covibe_coordination handoff', {
      to: 'claude-code@ana',
      message: 'Please use total() in src/checkout.ts. I have to switch to the login form.',
      repo,
    });
    await claude.call('covibe_coordination accept_handoff', { handoff_id: offer.handoff_id });
    done('an unanswered ask, an accepted handoff');
  },
};

/** Reports model usage, including one model without a known price. */
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
    await report(gemini, 'acme-code-7b', 75_000, 0, 3_900);
    done('usage, one model without a price');
  },
};
