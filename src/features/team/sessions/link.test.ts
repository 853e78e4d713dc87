import { expect, test } from 'vitest';
import { linksSession, SESSION_FIELD } from '../../../kernel/registry.ts';
import { type TestCaller, testApp } from '../../../testing/app.ts';

/** A valid value for each field that is required by at least one call. */
const SAMPLES: Record<string, unknown> = {
  title: 'Rework the parser',
  task_type: 'refactor',
  summary: 'Half done',
  repo: 'covenant',
  to: 'ben',
  message: 'Hello',
  text: 'At work',
  reason: 'No longer needed',
  status: 'blocked',
  result_summary: 'Done',
  kind: 'decision',
  source: 'codex',
  payload: { model: 'gpt-5', usage: { input_tokens: 10, output_tokens: 5 } },
  claim_id: 'clm_1',
  ask_id: 'ask_1',
  handoff_id: 'hand_1',
  task_id: 'task_1',
  planned_task_id: 'task_1',
  workstream_id: 'wst_1',
  planned_workstream_id: 'wst_1',
  warning_id: 'warn_1',
};

async function services() {
  const app = await testApp();
  const [ana, ben] = [await app.developer('ana'), await app.developer('ben')];
  const start = async (by: TestCaller) => ((await app.tool('covibe_session', { operation: 'start' }, by)).reply.data as { session_id: string }).session_id;
  /** All calls of all tools that accept a session, each with only the required fields. */
  const calls = app.app.registry.tools().flatMap((tool) =>
    [...tool.operations].flatMap(([operation, { contract }]) => {
      if (!(SESSION_FIELD in contract.input.shape)) return [];
      const needed = Object.entries(contract.input.shape).filter(([field, schema]) => field !== SESSION_FIELD && !schema.safeParse(undefined).success);
      for (const [field] of needed) if (!(field in SAMPLES)) throw new Error(`${tool.name} ${operation} needs ${field}: give it a sample above`);
      const args = { ...(operation === null ? {} : { operation }), ...Object.fromEntries(needed.map(([field]) => [field, SAMPLES[field]])) };
      return [{ tool: tool.name, contract, args }];
    }),
  );
  return { ...app, ana, ben, calls, start };
}

test("tools for tasks, scope, blockers, decisions, summaries and usage accept the caller's session [session.link.accepted]", async () => {
  const { ana, events, start, tool } = await services();
  const session_id = await start(ana);
  const task = { title: 'Rework the parser', task_type: 'refactor', session_id };
  const accepted: [string, object][] = [
    ['covibe_task', { operation: 'check', scope: 'One grammar for all dialects', ...task }],
    ['covibe_task', { operation: 'plan', scope: 'One grammar for all dialects', ...task }],
    ['covibe_note', { kind: 'blocker', title: 'No grammar yet', session_id }],
    ['covibe_note', { kind: 'decision', title: 'Write the grammar first', session_id }],
    ['covibe_team', { operation: 'generate_weekly_summary', session_id }],
    ['covibe_ingest_agent_telemetry', { source: 'codex', payload: SAMPLES.payload, session_id }],
  ];
  for (const [name, args] of accepted) expect([name, (await tool(name, args, ana)).reply.status]).toEqual([name, expect.stringMatching(/^(ok|warning)$/)]);
  const usage = (await events({ category: 'usage' })).filter((event) => event.session === session_id);
  expect(usage).toHaveLength(accepted.length);
});

test('a call with a session links its usage and work events to it, and marks it as seen [session.link.events]', async () => {
  const { ana, app, clock, events, start, tool } = await services();
  const session_id = await start(ana);
  clock.advance(60_000);
  await tool('covibe_note', { kind: 'decision', title: 'Use one parser', session_id }, ana);
  const linked = (await events()).filter((event) => event.session === session_id && event.category !== 'audit');
  expect(linked.map(({ category, kind }) => `${category} ${kind}`)).toEqual(['work session.started', 'work decision.recorded', 'usage covibe_note']);
  const { last_seen_at } = await app.store.reader.selectFrom('agent_sessions').select('last_seen_at').executeTakeFirstOrThrow();
  expect(last_seen_at).toBe(clock.now());
});

test("every tool that takes a session refuses somebody else's session with the message for a missing session [session.link.foreign-refused]", async () => {
  const { ana, ben, calls, start, tool } = await services();
  const foreign = await start(ana);
  const unknown = foreign.replace(/.{4}$/, 'ZZZZ');
  expect(new Set(calls.map((call) => call.tool)).size).toBeGreaterThan(5);
  for (const { tool: name, contract, args } of calls) {
    expect(linksSession(contract)).toBe(true);
    const answers = [await tool(name, { ...args, session_id: foreign }, ben), await tool(name, { ...args, session_id: unknown }, ben)];
    expect([name, args, answers[0]?.reply]).toMatchObject([name, args, { status: 'error', code: 'SESSION_NOT_FOUND' }]);
    expect(JSON.stringify(answers[1]?.body).replaceAll(unknown, foreign)).toBe(JSON.stringify(answers[0]?.body));
  }
});

test("a call with somebody else's session writes an error usage event without a session, and no work event [session.link.foreign-usage-event]", async () => {
  const { ana, app, ben, calls, events, start, tool } = await services();
  const foreign = await start(ana);
  const before = await events();
  const session = () => app.store.reader.selectFrom('agent_sessions').selectAll().executeTakeFirstOrThrow();
  const untouched = await session();
  for (const { tool: name, args } of calls) await tool(name, { ...args, session_id: foreign }, ben);
  const after = (await events()).slice(before.length);
  expect(after.filter((event) => event.session !== null || event.category === 'work')).toEqual([]);
  const usage = after.filter((event) => event.category === 'usage');
  expect(usage).toHaveLength(calls.length);
  for (const event of usage)
    expect(event).toMatchObject({ actor: ben.principal.actor, session: null, payload: { outcome: 'error', code: 'SESSION_NOT_FOUND' } });
  expect(await session()).toEqual(untouched);
});
