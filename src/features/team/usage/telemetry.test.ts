import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../../storage/journal.ts';
import { SCHEMA } from '../../../storage/schema.ts';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import { ENGINE } from '../../../testing/store/database.ts';
import { viewerOf } from '../../core/identity/index.ts';
import type { PriceView, UsageRow, UsageTotals } from './contract.ts';
import { usageSince } from './store.ts';

const DAY = 86_400_000;

interface Ingested {
  spans: { span_id: string; model: string | null; total_tokens: number; cost_usd: number | null; price_version: string | null }[];
  payload_sha256: string;
  verified: number;
  cost_usd: number | null;
  cost_mismatch: boolean;
}

async function services() {
  const app = await testApp();
  const [ana, ben] = [await app.developer('ana', 'claude-code'), await app.developer('ben', 'codex')];
  const ingest = async (args: object, by: TestCaller = ana) => (await app.tool('covibe_ingest_agent_telemetry', args, by)).reply;
  const ingested = async (args: object, by: TestCaller = ana) => {
    const reply = await ingest(args, by);
    if (reply.status !== 'ok') throw new Error(`${reply.code}: ${reply.message}`);
    return reply.data as Ingested;
  };
  const rows = () => app.app.store.reader.selectFrom('agent_spans').selectAll().orderBy('id').execute();
  let turn = 0;
  /** A turn of Codex that costs exactly $1 for 800,000 tokens. */
  const codex = (usage: object = { input_tokens: 800_000, output_tokens: 0 }, model = 'gpt-5-codex') => ({
    source: 'codex',
    payload: { turn: ++turn, model, usage },
  });
  const onDashboard = (by: TestCaller): TestCaller => ({ ...by, principal: { ...by.principal, web: true } });
  return { ...app, ana, ben, ingest, ingested, rows, codex, onDashboard };
}

test('the tool takes one structured payload, its source, and optionally a cost and a session [telemetry.ingest.shape]', async () => {
  const { ana, events, ingest, ingested, rows, tool } = await services();
  const { session_id } = (await tool('covibe_session', { operation: 'start' }, ana)).reply.data as { session_id: string };
  const payload = { model: 'claude-haiku-4-5', usage: { input_tokens: 1_000, output_tokens: 200 } };
  await ingested({ source: 'claude', payload, submitted_cost: 0.002, session_id });
  expect(await rows()).toMatchObject([{ session_id, agent_type: 'claude-code', developer_id: ana.principal.developerId }]);
  expect(await events({ kind: 'telemetry.ingested' })).toMatchObject([{ session: session_id, payload: { total_tokens: 1_200, cost_usd: 0.002 } }]);
  for (const [args, field] of [
    [{ payload }, 'source'],
    [{ source: 'claude' }, 'payload'],
    [{ source: 'someone', payload }, 'source'],
    [{ source: 'claude', payload: [payload] }, 'payload'],
    [{ source: 'claude', payload, submitted_cost: -1 }, 'submitted_cost'],
    [{ source: 'claude', payload, input_tokens: 5 }, 'input_tokens'],
    [{ source: 'claude', payload: { ...payload, note: 'n'.repeat(256 * 1024) } }, 'payload'],
  ] as const) {
    expect(await ingest(args)).toMatchObject({ status: 'error', code: 'INVALID_INPUT', data: { field } });
  }
  expect(await rows()).toHaveLength(1);
});

const usage = { input_tokens: 100, output_tokens: 20 };

test.each([
  ['claude', { modelUsage: { 'claude-opus-4-5': { inputTokens: 100, outputTokens: 20 } } }],
  ['claude-code', { type: 'assistant', message: { model: 'claude-opus-4-5', usage } }],
  ['codex', { type: 'token_count', model: 'gpt-5-codex', info: { last_token_usage: usage } }],
  ['openai', { type: 'response.completed', response: { model: 'gpt-5', usage } }],
])('a harness payload of %s is accepted [telemetry.accepts.harness]', async (source, payload) => {
  const { ingested } = await services();
  expect((await ingested({ source, payload })).spans).toMatchObject([{ total_tokens: 120 }]);
});

test.each([
  ['anthropic', { model: 'claude-opus-4-5', usage }],
  ['openai', { model: 'gpt-5', usage: { prompt_tokens: 100, completion_tokens: 20 } }],
  ['gemini', { modelVersion: 'gemini-2.5-flash', usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20 } }],
  ['provider', { model: 'claude-opus-4-5', usage: { ...usage, cache_read_input_tokens: 0 } }],
])('a provider payload of %s is accepted [telemetry.accepts.provider]', async (source, payload) => {
  const { ingested } = await services();
  expect((await ingested({ source, payload })).spans).toMatchObject([{ total_tokens: 120 }]);
});

test.each([
  ['proxy', { direct_counts: { model: 'gpt-5', ...usage } }],
  ['cursor', { direct_counts: { model: 'gpt-5', inputTokens: 100, outputTokens: 20 } }],
  ['proxy', { model: 'gpt-5', usage: { prompt_tokens: 100, completion_tokens: 20 } }],
])('a proxy payload of %s is accepted [telemetry.accepts.proxy]', async (source, payload) => {
  const { ingested } = await services();
  expect((await ingested({ source, payload })).spans).toMatchObject([{ total_tokens: 120 }]);
});

test('an OTel payload is accepted [telemetry.accepts.otel]', async () => {
  const { ingested } = await services();
  const attributes = [
    { key: 'gen_ai.request.model', value: { stringValue: 'gpt-5' } },
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '100' } },
    { key: 'gen_ai.usage.output_tokens', value: { intValue: '20' } },
  ];
  const payload = { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: 'a', spanId: 'b', name: 'chat gpt-5', attributes }] }] }] };
  expect((await ingested({ source: 'otel', payload })).spans).toMatchObject([{ model: 'gpt-5', total_tokens: 120 }]);
});

test('the server reads model and counters from the payload, and from nowhere else [telemetry.parse.server-side]', async () => {
  const { app, codex, ingest, ingested, rows } = await services();
  const properties = Object.keys(app.registry.tool('covibe_ingest_agent_telemetry')?.inputSchema.properties as object);
  expect(properties.sort()).toEqual(['payload', 'session_id', 'source', 'submitted_cost']);
  await ingested(codex({ input_tokens: 1_000, cached_input_tokens: 400, output_tokens: 50, reasoning_output_tokens: 30, total_tokens: 7 }, 'gpt-5.1-codex'));
  expect(await rows()).toMatchObject([
    { model: 'gpt-5.1-codex', provider: 'openai', input_tokens: 600, cached_input_tokens: 400, output_tokens: 50, reasoning_tokens: 30, total_tokens: 1_050 },
  ]);
  expect(await ingest({ source: 'codex', payload: { text: 'I used about 500 tokens' } })).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'payload' } });
  expect(await ingest(codex({ input_tokens: -5, output_tokens: 1 }))).toMatchObject({ data: { field: 'payload.usage.input_tokens' } });
});

test('no other tool takes token counts, and no other code writes spans [telemetry.ingest.only-path]', async () => {
  const { app } = await services();
  const counts = /^(input|output|cached|cached_input|cache_\w+|reasoning|prompt|completion|total)_tokens$|^tokens(_used)?$|usage|cost/;
  const taking = app.registry
    .tools()
    .filter((tool) => Object.keys(tool.inputSchema.properties as object).some((field) => counts.test(field)))
    .map(({ name }) => name);
  expect(taking).toEqual(['covibe_ingest_agent_telemetry']);
  const source = new URL('../../../', import.meta.url).pathname;
  const writing = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('migrations'))
    .filter((path) => /((insertInto|updateTable)\(|(insertRows|changeRows)\([\w.]+, )'agent_spans'/.test(readFileSync(join(source, path), 'utf8')));
  expect(writing).toEqual(['features/team/usage/ingest.ts']);
});

test('an ingested span is verified, and has the SHA-256 of the canonical payload [telemetry.span.verified] [telemetry.store.payload-hash]', async () => {
  const { ingested, rows } = await services();
  const payload = { usage: { output_tokens: 2, input_tokens: 1 }, model: 'gpt-5', extra: ['ü', { b: 1, a: 2 }] };
  const { payload_sha256, verified } = await ingested({ source: 'openai', payload });
  expect(verified).toBe(1);
  expect(payload_sha256).toBe(hash('sha256', canonicalJson(payload)));
  expect(await rows()).toMatchObject([{ verified: 1, payload_sha256 }]);
});

test('only counters, model and hash of a payload are in any table, the journal, the log or the file [telemetry.store.counters-only]', async () => {
  const { ana, app, database, ingest, ingested, logged, tool } = await services();
  const canary = (name: string) => `CANARY-${name}-7f3a`;
  const { session_id } = (await tool('covibe_session', { operation: 'start' }, ana)).reply.data as { session_id: string };
  const secrets = {
    prompt: canary('prompt'),
    messages: [{ role: 'user', content: canary('content') }],
    api_key: canary('key'),
    [canary('field')]: 1,
    cwd: canary('path'),
  };
  await ingested({ source: 'codex', session_id, payload: { id: canary('id'), model: 'gpt-5', usage: { ...usage, note: canary('note') }, ...secrets } });
  await ingested({
    source: 'claude',
    payload: {
      result: canary('result'),
      session_id: canary('session'),
      modelUsage: { 'claude-opus-4-5': { inputTokens: 1, outputTokens: 1, [canary('inner')]: 1 } },
    },
  });
  await ingested({ source: 'proxy', payload: { direct_counts: { model: 'gpt-5', provider: canary('provider'), ...usage, ...secrets } } });
  const attributes = [
    { key: 'gen_ai.usage.input_tokens', value: { intValue: 5 } },
    { key: 'gen_ai.system', value: { stringValue: canary('system') } },
    { key: 'gen_ai.prompt', value: { stringValue: canary('otel') } },
  ];
  await ingested({ source: 'otel', payload: { resourceSpans: [{ scopeSpans: [{ spans: [{ name: canary('span'), attributes }] }] }] } });
  const refusedPayloads = [
    { source: 'codex', payload: { ...secrets } },
    { source: 'codex', payload: { model: `${canary('model')} with words`, usage } },
    { source: 'claude', payload: { modelUsage: { [`${canary('model')} with words`]: { inputTokens: 1, outputTokens: 1 } } } },
    { source: 'codex', payload: { usage: { ...usage, input_tokens: canary('counter') } } },
    { source: canary('source'), payload: { usage } },
    { source: 'codex', payload: { usage }, [canary('extra')]: 1, session_id },
  ];
  for (const args of refusedPayloads) expect((await ingest(args)).status).toBe('error');

  const tables = [...SCHEMA[ENGINE].matchAll(/^create table "?(\w+)|^table (\w+)|^(\w+)\./gim)].map((found) => found[1] ?? found[2] ?? found[3] ?? '');
  expect(tables).toContain('agent_spans');
  for (const table of new Set(tables)) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(app.store.reader);
    expect([table, JSON.stringify(rows)]).toEqual([table, expect.not.stringContaining('CANARY')]);
  }
  expect(logged.join('\n')).not.toContain('CANARY');
  if (ENGINE === 'sqlite') {
    for (const file of readdirSync(database.home)) expect([file, readFileSync(join(database.home, file)).includes('CANARY')]).toEqual([file, false]);
  }
});

test('the same payload of the same developer is counted once, in any order of its keys', async () => {
  const { ana, ben, events, ingest, ingested, rows } = await services();
  const first = await ingested({ source: 'codex', payload: { model: 'gpt-5', usage } });
  expect(await ingest({ source: 'codex', payload: { usage: { output_tokens: 20, input_tokens: 100 }, model: 'gpt-5' }, submitted_cost: 9 })).toMatchObject({
    status: 'warning',
    code: 'ALREADY_INGESTED',
    data: { spans: [{ span_id: first.spans[0]?.span_id }] },
  });
  expect(await rows()).toHaveLength(1);
  expect(await events({ kind: 'telemetry.ingested' })).toHaveLength(1);
  await ingested({ source: 'codex', payload: { model: 'gpt-5', usage } }, ben);
  const both = await Promise.all([1, 2, 3].map(() => ingest({ source: 'codex', payload: { model: 'gpt-5', usage, turn: 2 } }, ana)));
  expect(both.filter(({ status }) => status === 'ok')).toHaveLength(1);
  expect(await rows()).toHaveLength(3);
});

test("a submitted cost that differs from the server's is flagged, and the agent is warned [telemetry.cost.mismatch]", async () => {
  const { codex, ingest, ingested, rows } = await services();
  expect(await ingested({ ...codex(), submitted_cost: 1.01 })).toMatchObject({ cost_usd: 1, cost_mismatch: false });
  const reply = await ingest({ ...codex(), submitted_cost: 1.02 });
  expect(reply).toMatchObject({ status: 'warning', code: 'COST_MISMATCH', data: { cost_usd: 1, submitted_cost_usd: 1.02, cost_mismatch: true } });
  expect(reply.message).toContain('$1.02');
  const claimed = { source: 'claude', payload: { modelUsage: { 'claude-haiku-4-5': { inputTokens: 1_000_000, outputTokens: 0, costUSD: 0.5 } } } };
  expect(await ingest(claimed)).toMatchObject({ code: 'COST_MISMATCH', data: { cost_usd: 1, submitted_cost_usd: 0.5 } });
  expect((await rows()).map(({ cost_micros, submitted_micros, cost_mismatch }) => [cost_micros, submitted_micros, cost_mismatch])).toEqual([
    [1_000_000, 1_010_000, 0],
    [1_000_000, 1_020_000, 1],
    [1_000_000, 500_000, 1],
  ]);
});

test('a model without a price costs null, never 0, and flags nothing', async () => {
  const { codex, ingested, rows } = await services();
  expect(await ingested({ ...codex(usage, 'acme-coder-1'), submitted_cost: 12 })).toMatchObject({
    cost_usd: null,
    cost_mismatch: false,
    spans: [{ cost_usd: null, price_version: null }],
  });
  expect(await ingested(codex(usage, undefined))).toMatchObject({ spans: [{ model: 'gpt-5-codex', price_version: 'builtin-2026-08' }] });
  expect((await rows())[0]).toMatchObject({ cost_micros: null, submitted_micros: 12_000_000, cost_mismatch: 0 });
});

test('the operator sets prices; each change is a version and an audit event, and stored costs stay', async () => {
  const { action, ana, codex, done, events, ingested, onDashboard, rows } = await services();
  await ingested(codex());
  expect(await done('prices.set', { model: 'gpt-5-codex', price: { input: 2.5, output: 20 } })).toEqual({ model: 'gpt-5-codex', version: 'workspace-1' });
  await ingested(codex());
  await done('prices.set', { model: 'GPT-5*', price: { input: 10, output: 20 } });
  await ingested(codex());
  await ingested(codex(undefined, 'gpt-5-mini'));
  expect(await ingested(codex({ input_tokens: 10, cached_input_tokens: 5, output_tokens: 0 }))).toMatchObject({ cost_usd: null });
  await done('prices.set', { model: 'gpt-5*', price: null });
  await done('prices.set', { model: 'gpt-5-codex', price: null });
  await ingested(codex());
  expect((await rows()).map(({ cost_micros, price_version }) => [cost_micros, price_version])).toEqual([
    [1_000_000, 'builtin-2026-08'],
    [2_000_000, 'workspace-1'],
    [2_000_000, 'workspace-1'],
    [8_000_000, 'workspace-2'],
    [null, null],
    [1_000_000, 'builtin-2026-08'],
  ]);
  const changes = await events({ category: 'audit', kind: 'prices.changed' });
  expect(changes.map(({ subject, payload }) => [subject, payload.version])).toEqual([
    ['model:gpt-5-codex', 'workspace-1'],
    ['model:gpt-5*', 'workspace-2'],
    ['model:gpt-5*', 'workspace-3'],
    ['model:gpt-5-codex', 'workspace-4'],
  ]);
  expect(changes[0]?.payload).toMatchObject({ before: { input: 1.25 }, after: { input: 2.5, output: 20 } });
  const price = { input: 1, output: 1 };
  expect(
    (await action('prices.set', { model: 'gpt-5', price }, onDashboard(await Promise.resolve({ ...ana, principal: { ...ana.principal, operator: false } }))))
      .reply,
  ).toMatchObject({
    code: 'OPERATOR_REQUIRED',
  });
  for (const model of ['', '*', 'a b', 'x**', '(a+)+$'])
    expect((await action('prices.set', { model, price })).reply).toMatchObject({ data: { field: 'model' } });
  expect((await action('prices.set', { model: 'a', price: { input: -1, output: 1 } })).reply).toMatchObject({ data: { field: 'price.input' } });
});

test("members see the prices in effect, the workspace's own before the built-in ones", async () => {
  const { ana, done, onDashboard } = await services();
  await done('prices.set', { model: 'acme-1', price: { input: 1, cached_input: 0.1, output: 2 } });
  await done('prices.set', { model: 'gpt-5', price: { input: 1, output: 2 } });
  const { items } = (await done('prices.list', {}, onDashboard(ana))) as { items: PriceView[] };
  expect(items[0]).toMatchObject({ model: 'acme-1', cached_input: 0.1, cache_write: null, version: 'workspace-1' });
  expect(items.filter(({ model }) => model === 'gpt-5')).toMatchObject([{ input: 1, version: 'workspace-2' }]);
  expect(items.find(({ model }) => model === 'claude-opus-4-5')).toMatchObject({ input: 5, output: 25, version: 'builtin-2026-08', set_at: null });
});

test('usage is summed by day, developer, agent and model; unpriced reports are counted separately', async () => {
  const { ana, app, ben, clock, codex, done, ingest, ingested, onDashboard } = await services();
  await ingested(codex(), ben);
  await ingested(codex(), ben);
  await ingest({ ...codex(), submitted_cost: 5 }, ben);
  await ingested(codex(usage, 'acme-1'), ben);
  clock.advance(DAY);
  await ingested(codex());
  const { items, totals } = (await done('usage.list', {}, onDashboard(ana))) as { items: UsageRow[]; totals: UsageTotals };
  expect(
    items
      .map(({ day, developer, agent_type, model, spans, total_tokens, cost_usd, unpriced, mismatches }) => [
        day,
        developer,
        agent_type,
        model,
        spans,
        total_tokens,
        cost_usd,
        unpriced,
        mismatches,
      ])
      .sort(),
  ).toEqual([
    ['2026-01-01', 'ben', 'codex', 'acme-1', 1, 120, null, 1, 0],
    ['2026-01-01', 'ben', 'codex', 'gpt-5-codex', 3, 2_400_000, 3, 0, 1],
    ['2026-01-02', 'ana', 'claude-code', 'gpt-5-codex', 1, 800_000, 1, 0, 0],
  ]);
  expect(items[0]?.day).toBe('2026-01-02');
  expect(totals).toMatchObject({ spans: 5, cost_usd: 4, unpriced: 1, mismatches: 1, total_tokens: 3_200_120 });
  expect(((await done('usage.list', { days: 1 }, onDashboard(ana))) as { items: UsageRow[] }).items).toHaveLength(1);
  const none = await usageSince(app.store.reader, ana.principal.workspace, clock.now() + DAY, await viewerOf(app.store.reader, ana.principal));
  expect(none).toMatchObject({ rows: [], totals: { spans: 0, cost_usd: null } });
});

test('sums that are too large to be exact are still returned', async () => {
  const { ana, app, clock, codex, ingested } = await services();
  for (let turn = 0; turn < 3; turn++) await ingested(codex());
  const { workspace } = ana.principal;
  await app.store.write(workspace, async (tx) => {
    await sql`update agent_spans set input_tokens = 5000000000000000, total_tokens = 5000000000000000, cost_micros = 5000000000000000`.execute(tx.db);
  });
  const { totals } = await usageSince(app.store.reader, workspace, clock.now() - DAY, await viewerOf(app.store.reader, ana.principal));
  expect(totals).toMatchObject({ spans: 3, input_tokens: 15e15, cost_usd: 15e9, unpriced: 0 });
});

test('a counter beyond the limit is refused with its path', async () => {
  const { ingest } = await services();
  const payload = { usage: { input_tokens: 1, output_tokens: 1 }, rate: JSON.parse('1e400') };
  expect(await ingest({ source: 'codex', payload })).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'payload.rate' } });
});

test('private developers are one row of usage, without name or id', async () => {
  const { ana, app, ben, codex, developer, done, ingested } = await services();
  const mira = await developer('mira', 'codex');
  await ingested(codex(), ben);
  await ingested(codex(), mira);
  for (const name of ['ben', 'mira']) await done('developers.set_visibility', { developer: name, visibility: 'private' });
  const { rows } = await usageSince(app.store.reader, ana.principal.workspace, 0, await viewerOf(app.store.reader, ana.principal));
  expect(rows).toMatchObject([{ developer: '@private', spans: 2, cost_usd: 2 }]);
  for (const { principal } of [ben, mira]) expect(JSON.stringify(rows)).not.toContain(principal.developerId as string);
  expect(
    (await usageSince(app.store.reader, ben.principal.workspace, 0, await viewerOf(app.store.reader, ben.principal))).rows
      .map(({ developer: who }) => who)
      .sort(),
  ).toEqual(['@private', 'ben']);
});

test('usage is summed by any keys; a report belongs to exactly one task, the last that its session started', async () => {
  const { ana, ben, clock, codex, done, ingested, onDashboard, tool } = await services();
  const { session_id } = (await tool('covibe_session', { operation: 'start' }, ana)).reply.data as { session_id: string };
  const start = async (title: string) => {
    clock.advance(1_000);
    const work = { title, task_type: 'feature', session_id };
    await tool('covibe_task', { operation: 'check', ...work }, ana);
    const { reply } = await tool('covibe_task', { operation: 'start', ...work }, ana);
    if (reply.status !== 'ok') throw new Error(reply.message);
    clock.advance(1_000);
    return (reply.data as { task_id: string }).task_id;
  };
  await ingested({ ...codex(), session_id });
  const first = await start('Wash the dishes');
  await ingested({ ...codex(), session_id });
  await tool('covibe_task', { operation: 'complete', task_id: first, result_summary: 'Clean.', session_id }, ana);
  clock.advance(1_000);
  await ingested({ ...codex(), session_id });
  const second = await start('Repair the bicycle');
  await ingested({ ...codex(usage, 'acme-1'), session_id });
  await ingested(codex(), ben);
  type Listed = { items: UsageRow[]; totals: UsageTotals & { sessions: number }; left_out: number };
  const list = async (input: object) => (await done('usage.list', input, onDashboard(ana))) as unknown as Listed;

  const byTask = await list({ by: ['task'] });
  expect(
    byTask.items.map(({ task, spans, sessions, cost_usd, model, developer }) => [task?.task_id ?? null, spans, sessions, cost_usd, model, developer]),
  ).toEqual([
    [first, 2, 1, 2, null, null],
    [null, 2, 1, 2, null, null],
    [second, 1, 1, null, null, null],
  ]);
  expect(byTask.totals).toMatchObject({ spans: 5, sessions: 1, cost_usd: 4, unpriced: 1 });
  const byDeveloper = await list({ by: ['developer'], limit: 1 });
  expect(byDeveloper).toMatchObject({ items: [{ developer: 'ana', spans: 4, sessions: 1, agent_type: null }], left_out: 1, totals: byTask.totals });
  expect((await list({ by: ['agent'] })).items).toMatchObject([
    { agent_type: 'claude-code', developer: 'ana', agent_id: `claude-code@${ana.principal.developerId}` },
    { agent_type: 'codex', developer: 'ben', sessions: 0 },
  ]);
  expect(await list({ by: [] })).toMatchObject({ items: [{ ...byTask.totals, day: null, developer: null, model: null, task: null }] });

  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const seen = (await done('usage.list', { by: ['task', 'agent'] }, onDashboard(ben))) as unknown as Listed;
  expect(seen.items).toMatchObject([
    { developer: '@private', agent_type: null, agent_id: null, task: null, spans: 4, sessions: 1 },
    { developer: 'ben', agent_type: 'codex' },
  ]);
});
