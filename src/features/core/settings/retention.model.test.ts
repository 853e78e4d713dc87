import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { type TestClock, testClock } from '../../../testing/clock.ts';
import { patience, runs } from '../../../testing/runs.ts';
import { type Body, type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';
import { inRun } from '../../../testing/scope.ts';
import { RETENTION_RULES } from '../../retention.ts';
import { APPROVAL_STATUSES } from '../approvals/contract.ts';
import { retentionSweep } from './retention.ts';

const DAY_MS = 24 * 3_600_000;
const DAYS = 31;
const DOES = [
  ...['session', 'activity', 'end', 'claim', 'release', 'ask', 'reply', 'hear', 'announce', 'handoff', 'accept', 'context', 'tokens', 'check', 'dismiss'],
  ...['start', 'audit', 'exchange', 'exchange', 'question', 'answer', 'approval', 'session', 'end', 'hear'],
] as const;

type Step = { readonly do: string; readonly by: 0 | 1; readonly which: number; readonly days: number };
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(...DOES),
  by: fc.constantFrom(0, 1),
  which: fc.nat(5),
  /** Days until the next step. */
  days: fc.constantFrom(0, 0, 0, 1, 8, 20),
});

/** Every table that retention deletes from, with the time at which a row finished; null: it has not finished. */
type Row = Record<string, Body>;
type Rows = Record<string, Row[]>;
const TABLES = {
  claims: (row: Row) => row.released_at ?? row.expires_at,
  asks: (row: Row) => (row.answer_delivered_at === null ? null : row.answered_at),
  announcements: (row: Row) => row.created_at,
  handoffs: (row: Row) => row.accepted_at,
  session_contexts: (row: Row) => row.expires_at,
  agent_spans: (row: Row) => row.ingested_at,
  agent_sessions: (row: Row) => row.ended_at,
  session_activity: (row: Row, all: Rows) => all.agent_sessions?.find(({ id }) => id === row.session_id)?.ended_at,
  overlap_warnings: (row: Row) => row.resolved_at,
  scope_verdicts: (row: Row, all: Rows) =>
    row.warning_id === null ? row.created_at : all.overlap_warnings?.find(({ id }) => id === row.warning_id)?.resolved_at,
  parallel_audits: (row: Row, all: Rows) => (row.id === all.parallel_audits?.at(-1)?.id ? null : row.created_at),
  approvals: (row: Row) => (['waiting', 'approved'].includes(row.status) ? null : (row.used_at ?? row.decided_at ?? row.deadline_at)),
  messages: (row: Row, all: Rows) => threadOver(all.messages?.filter(({ thread_id }) => thread_id === row.thread_id) ?? []),
  tasks: () => null,
  agents: (row: Row) => (row.status === 'offline' && row.current_task_id === null ? row.last_seen_at : null),
} as const;

/** When the last message was sent, or when it expired without being read. Null: somebody still waits. */
function threadOver(messages: readonly Row[]): number | null {
  const ends = messages.map((m) => {
    const replied = messages.some((other) => other.reply_to_id !== null && other.recipient_id === m.sender_id);
    const isOpen = m.status === 'unread' || (m.message_type === 'query' && m.answered_at === null && !replied);
    return isOpen ? (m.expires_at ?? null) : m.sent_at;
  });
  return ends.includes(null) ? null : Math.max(...ends, ...messages.map(({ sent_at }) => sent_at));
}

async function allRows(t: WorkflowApp): Promise<Rows> {
  const tables = Object.keys(TABLES) as (keyof typeof TABLES)[];
  const rows = tables.map(async (table) => [table, (await t.app.store.reader.selectFrom(table).selectAll().orderBy('id').execute()) as Row[]] as const);
  return Object.fromEntries(await Promise.all(rows));
}

/** Executes a step if the current state allows it; a refused step does nothing. */
async function world(t: WorkflowApp) {
  const callers = [t.ana, t.ben] as const;
  const made = new Map<string, string[]>();
  let count = 0;
  const call = async (tool: string, args: object, caller: TestCaller): Promise<Body> => {
    const { body } = await t.tool(tool, args, caller);
    expect(JSON.stringify(body)).not.toContain('INTERNAL');
    return (body as Body).data ?? body;
  };
  const known = (kind: string, which: number) => made.get(kind)?.at(-1 - which) ?? 'none';
  const keep = (kind: string, id: unknown) => typeof id === 'string' && made.set(kind, [...(made.get(kind) ?? []), id]);
  return async ({ do: what, by, which }: Step): Promise<void> => {
    const n = ++count;
    const me = callers[by];
    const to = by === 0 ? 'ben' : 'ana';
    const session = (operation: string, args: object) => call('covibe_session', { operation, ...args }, me);
    const coordinate = (operation: string, args: object) => call('covibe_coordination', { operation, ...args }, me);
    const words = { title: `Cache the answers of the ${which % 2 ? 'parser' : 'printer'}`, task_type: 'feature' };
    const check = async () => {
      const found = await call('covibe_task', { operation: 'check', ...words }, me);
      keep(`warning${by}`, found.warning_id);
      return found;
    };
    const start = async () => {
      const { check_id, candidates = [], requires_verdict } = await check();
      const judged = candidates.map(({ id }: Row) => ({ id, same_scope: false, reason: 'other work' }));
      const verdict = requires_verdict ? { check_id, scope_verdict: { verdict: 'distinct', candidates: judged } } : {};
      await call('covibe_task', { operation: 'start', ...words, ...verdict }, me);
    };
    const ways: Record<string, () => Promise<unknown>> = {
      session: async () => keep(`session${by}`, (await session('start', {})).session_id),
      activity: () => session('activity', { session_id: known(`session${by}`, which), text: `line ${n}` }),
      end: () => session('end', { session_id: known(`session${by}`, which) }),
      claim: async () => keep(`claim${by}`, (await coordinate('claim', { repo: 'r', paths: [`src/${n}.ts`], ttl_minutes: 1 + which * 250 })).claim_id),
      release: () => coordinate('release', { claim_id: known(`claim${by}`, which) }),
      ask: async () => keep(`ask${1 - by}`, (await coordinate('ask', { to, message: `a${n}` })).ask_id),
      reply: () => coordinate('reply', { ask_id: known(`ask${by}`, which), message: 'so' }),
      hear: () => session('heartbeat', {}),
      announce: () => coordinate('announce', { message: `n${n}` }),
      handoff: async () => keep(`handoff${1 - by}`, (await coordinate('handoff', { to, message: `h${n}` })).handoff_id),
      accept: () => coordinate('accept_handoff', { handoff_id: known(`handoff${by}`, which) }),
      context: () => session('publish_context', { title: `c${n}`, summary: 's', repo: `r${which}` }),
      tokens: () =>
        call('covibe_ingest_agent_telemetry', { source: 'proxy', payload: { direct_counts: { model: 'm', input_tokens: n, output_tokens: 1 } } }, me),
      check,
      start,
      dismiss: () => call('covibe_warning', { operation: 'dismiss', warning_id: known(`warning${by}`, which), reason: 'no' }, me),
      audit: () => call('covibe_team', { operation: 'audit_parallel_work' }, me),
      exchange: () => exchange(n, by, which),
      question: async () => {
        const [asker] = await registered();
        keep('question', (await call('message_send', { sender_id: asker, recipient_id: 'human', message_type: 'query', body: `q${n}` }, t.ana)).id);
      },
      answer: () => t.action('questions.answer', { question_id: known('question', which), answer: 'yes' }),
      approval: () => approval(n, APPROVAL_STATUSES[which % 5] ?? 'waiting'),
    };
    await ways[what]?.();
  };

  /** Agents that were silent for days are offline, so new agents register each time. */
  async function registered(): Promise<[string, string]> {
    return [await t.agent(t.ana), await t.agent(t.ben)];
  }

  /** A message that may have been read and answered, and whose answer may have been read. */
  async function exchange(n: number, by: 0 | 1, which: number): Promise<void> {
    const [one, other] = await registered();
    const send = (from: string, to: string, caller: TestCaller, args: object) =>
      call('message_send', { sender_id: from, recipient_id: to, message_type: 'notification', body: `m${n}`, ...args }, caller);
    const first = await send(one, other, t.ana, { ...(by === 0 && { message_type: 'query' }), ...(which === 5 && { expires_in_minutes: 60 }) });
    if (which > 0) await call('message_mark_read', { message_ids: [first.id] }, t.ben);
    if (which < 2) return;
    const reply = await send(other, one, t.ben, { message_type: 'response', reply_to_id: first.id });
    if (which > 2) await call('message_mark_read', { message_ids: [reply.id] }, t.ana);
  }

  async function approval(n: number, status: (typeof APPROVAL_STATUSES)[number]): Promise<void> {
    const { workspace, tokenId, actor } = t.ana.principal;
    const at = t.clock.now();
    const decided = status === 'waiting' || status === 'lapsed' ? null : at;
    const row = { workspace_id: workspace, id: `apr_${n}`, noun: 'tool', name: 'x', server: null, arguments: null, arguments_sha256: 'a', grant_id: 'g' };
    const call = { token_id: tokenId, developer_id: null, actor, request_id: `r${n}`, status, created_at: at, deadline_at: at + 1_000, decided_at: decided };
    const rest = { decided_by: null, decided_through: null, reason: null, used_at: status === 'used' ? at : null };
    await t.app.store.write(
      workspace,
      async (tx) =>
        void (await tx.db
          .insertInto('approvals')
          .values({ ...row, ...call, ...rest })
          .execute()),
    );
  }
}

/** The clock of this server runs no sweeps, because the test runs them itself. */
const withoutSweeps = (): TestClock => ({ ...testClock(), every: () => () => {} });

/** Checks that every list can still be read, and every remaining object by its id. */
async function readsWork(t: WorkflowApp, rows: Rows): Promise<void> {
  const read = async (name: string, args: object) => {
    const { reply } = await t.action(name, args);
    expect(reply, `${name} ${JSON.stringify(args)}`).not.toMatchObject({ code: 'INTERNAL' });
    return reply;
  };
  for (const { name, annotations } of t.app.registry.actions()) if (annotations.readOnlyHint) await read(name, {});
  for (const { id } of rows.claims ?? []) expect(await read('claims.show', { claim_id: id })).toMatchObject({ status: 'ok' });
  for (const { id } of rows.overlap_warnings ?? []) expect(await read('overlap.show', { warning_id: id })).toMatchObject({ status: 'ok' });
  for (const { id } of [...(rows.asks ?? []), ...(rows.handoffs ?? []), ...(rows.announcements ?? []), ...(rows.messages ?? [])]) {
    expect(await read('messages.thread', { id }), id).toMatchObject({ status: 'ok' });
  }
  for (const { developer_id } of rows.agent_sessions ?? []) await read('agents.show', { id: developer_id });
  for (const operation of ['state', 'feedback', 'generate_weekly_summary']) await t.ok('covibe_team', { operation });
}

test(
  'after any sequence of steps, retention deletes exactly what finished long enough ago, and everything else can be read even with a pruned journal',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 70, maxLength: 100, size: 'max' }),
        inRun(async (steps) => {
          const t = await workflowApp({ clock: withoutSweeps() });
          const act = await world(t);
          for (const each of steps) {
            await act(each);
            if (each.days > 0) t.clock.advance(each.days * DAY_MS);
          }
          const { store, clock, log } = t.app;
          const all = await allRows(t);
          const before = clock.now() - DAYS * DAY_MS;
          const sweep = retentionSweep({ store, clock, log }, RETENTION_RULES);
          // Another setting that also has a number.
          await t.done('settings.set', { key: 'review.max_iterations', value: DAYS });
          await sweep.run();
          expect(await allRows(t)).toEqual(all);
          await t.done('settings.set', { key: 'retention.days', value: DAYS });
          await sweep.run();
          const left = await allRows(t);
          for (const [table, overAt] of Object.entries(TABLES)) {
            const kept = all[table]?.filter((row) => !((overAt(row, all) ?? Number.POSITIVE_INFINITY) < before));
            expect(left[table], table).toEqual(kept);
          }
          await readsWork(t, left);
          // An ask is delivered with its recipient's next call.
          const told = await allRows(t);
          await t.done('journal.prune', { keep_days: DAYS });
          expect(await t.done('events.verify', { limit: 10_000 })).toMatchObject({ first_break: null, done: true });
          expect(await allRows(t)).toEqual(told);
          await readsWork(t, told);
        }),
      ),
      { ...runs(3), endOnFailure: true },
    );
  },
  patience(60_000),
);

test('open items are kept however old they are: an undelivered answer, an offer, a query, an approved call', async () => {
  const t = await workflowApp({ clock: withoutSweeps() });
  const act = await world(t);
  const step = (what: string, by: 0 | 1, which = 0) => act({ do: what, by, which, days: 0 });
  await step('ask', 0);
  await step('reply', 1);
  await step('handoff', 0);
  await step('exchange', 0, 1);
  await step('question', 0);
  await step('approval', 0, APPROVAL_STATUSES.indexOf('approved'));
  await step('audit', 0);
  const { clock, log } = t.app;
  t.clock.advance(400 * DAY_MS);
  await t.done('settings.set', { key: 'retention.days', value: DAYS });
  const sweep = retentionSweep({ store: t.app.store, clock, log }, RETENTION_RULES);
  const waiting = await allRows(t);
  await sweep.run();
  expect(await allRows(t)).toEqual(waiting);
  expect(Object.entries(waiting).flatMap(([table, rows]) => (rows.length > 0 ? [table] : []))).toEqual(
    expect.arrayContaining(['asks', 'handoffs', 'messages', 'approvals', 'parallel_audits']),
  );
  await step('hear', 0);
  await sweep.run();
  expect((await allRows(t)).asks).toEqual([]);
});

test('a workspace without a retention setting keeps everything, and the list shows the setting', async () => {
  const t = await workflowApp();
  const told = async () =>
    ((await t.done('retention.list', {})).items as { what: string; ms: number | null }[]).filter(({ what }) => /Claims|Tasks/.test(what));
  expect(await told()).toMatchObject([{ ms: null }, { ms: null }]);
  for (const value of [30, 1.5, 36_501]) expect((await t.action('settings.set', { key: 'retention.days', value })).body).toMatchObject({ field: 'value' });
  expect(await t.done('settings.set', { key: 'retention.days', value: 90 })).toMatchObject({ value: 90, default: null, is_default: false });
  expect((await told()).map(({ what, ms }) => [what.split(/[, ]/)[0], ms])).toEqual([
    ['Tasks', null],
    ['Claims', 90 * DAY_MS],
  ]);
  expect(await t.done('settings.set', { key: 'retention.days', value: null })).toMatchObject({ value: null, is_default: true });
  expect(await told()).toMatchObject([{ ms: null }, { ms: null }]);
});
