import { ExportResultCode } from '@opentelemetry/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../kernel/ids.ts';
import { createLog } from '../../kernel/log.ts';
import { testApp } from '../../testing/app.ts';
import { fixtureFeature } from '../../testing/fixture.ts';
import { connected, ERAS } from '../../testing/mcp-client.ts';
import { whenOver } from '../../testing/scope.ts';
import { type Collector, collector } from '../../testing/stand-ins/collector.ts';
import { child, upstreamApp } from '../../testing/stand-ins/upstreams.ts';
import { createMetrics } from '../http/metrics.ts';
import { CollectorStatus } from './outbox.ts';
import { telemetrySettings } from './settings.ts';
import { startTelemetry } from './start.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const CONTEXT = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=one', baggage: 'team=red' };

/** Starts telemetry as `covenant up` does if config.toml names the endpoint. */
function telling(url: string, env: NodeJS.ProcessEnv = {}) {
  const metrics = createMetrics();
  const lines: string[] = [];
  const note = (message: string, { problem = '' }: { problem?: string } = {}) => void lines.push(`${message} ${problem}`);
  const { targets } = telemetrySettings({ telemetry: { otlp_endpoint: url } }, env);
  const telemetry = startTelemetry({ targets, env, log: { level: 'debug', error: note, warn: note, info: note, debug: note }, metrics });
  whenOver(() => telemetry.stop());
  return { ...telemetry, metrics, lines };
}

const named = (to: Collector, name: string) => {
  const found = to.spans().filter((span) => span.name === name);
  expect([name, found.length]).toEqual([name, 1]);
  return found[0] as NonNullable<(typeof found)[0]>;
};

test.each(ERAS)("adds the call of a %s client to the client's trace, and passes the trace on to the external server", async (era) => {
  const to = await collector();
  const { tracer, stop } = telling(to.url);
  const t = await upstreamApp([{ name: 'far', ...child('tells-meta') }], { tracer });
  await t.event('upstream.started', 'far');
  await t.done('capabilities.grant', { action: 'tool.call.far_meta' });
  const { url } = await t.serve();
  const client = await connected(`${url}/mcp`, t.operator.token, era);
  const result = await client.callTool({ name: 'far_meta', arguments: {}, _meta: CONTEXT });
  const received = JSON.parse((result.content as { text: string }[])[0]?.text ?? '');
  await stop();

  const call = named(to, 'tools/call far_meta');
  expect(call).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, kind: 2, status: 0 });
  expect(call.attributes).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'far_meta',
    'covenant.server': 'far',
    'covenant.outcome': 'ok',
  });
  const relayed = named(to, 'tools/call meta');
  expect(relayed).toMatchObject({ traceId: TRACE, parentSpanId: call.spanId, kind: 3 });
  expect(received).toMatchObject({ traceparent: `00-${TRACE}-${relayed.spanId}-01`, tracestate: 'vendor=one', baggage: 'team=red' });
});

test('begins a trace for a caller without one, and never passes on an invalid trace context', async () => {
  const to = await collector();
  const { tracer, stop } = telling(to.url);
  const t = await upstreamApp([{ name: 'far', ...child('tells-meta') }], { tracer });
  await t.event('upstream.started', 'far');
  const wrong = { capabilities: {}, meta: { traceparent: 'nonsense', tracestate: 'vendor=stale' } };
  const { body } = await t.call('far_meta', {}, { exchange: wrong });
  const received = JSON.parse((body.content as { text: string }[])[0]?.text ?? '');
  await stop();
  const call = named(to, 'tools/call far_meta');
  expect(call.parentSpanId).toBeUndefined();
  expect(received.traceparent).toBe(`00-${call.traceId}-${named(to, 'tools/call meta').spanId}-01`);
  expect(received).not.toHaveProperty('tracestate');
});

test('adds an HTTP call to the trace named in its header, with spans for the parts of the call', async () => {
  const to = await collector();
  const { tracer, stop } = telling(to.url);
  const t = await testApp({ features: [fixtureFeature], tracer });
  const ana = await t.developer('ana');
  const { url } = await t.serve();
  const answer = await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ana.token}`, 'content-type': 'application/json', traceparent: CONTEXT.traceparent },
    body: JSON.stringify({ tool: 'covibe_fixture', arguments: { operation: 'change', what: 'one' } }),
  });
  expect(answer.status).toBe(200);
  await stop();
  const call = named(to, 'tools/call covibe_fixture');
  expect(call).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  expect(call.attributes).toMatchObject({ 'covenant.surface': 'api', 'covenant.toolset': 'team', 'covenant.request.id': answer.headers.get('x-request-id') });
  const handler = named(to, 'handler');
  expect([named(to, 'gate').parentSpanId, handler.parentSpanId]).toEqual([call.spanId, call.spanId]);
  const within = to.spans().filter(({ parentSpanId }) => parentSpanId === handler.spanId);
  expect(within.map(({ name, attributes }) => [name, attributes['db.system.name']])).toEqual([['store.write', 'sqlite']]);
});

test('marks the span of a failed call with the error code', async () => {
  const to = await collector();
  const { tracer, stop } = telling(to.url);
  const t = await testApp({ features: [fixtureFeature], tracer });
  await t.tool('covibe_fixture', { operation: 'change', what: 'one', fail: 'refuse' }, await t.developer('ana'));
  await stop();
  const call = named(to, 'tools/call covibe_fixture');
  expect([call.status, call.attributes['error.type'], call.attributes['covenant.outcome']]).toEqual([2, 'FIXTURE_REFUSED', 'error']);
});

test('exports no argument, token, name of a person or unknown tool name', async () => {
  const to = await collector();
  const { tracer, metrics, stop } = telling(to.url);
  const t = await testApp({ features: [fixtureFeature], tracer });
  const ana = await t.developer('canary-person', 'canary-agent');
  for (const fail of [undefined, 'refuse', 'crash', 'block'] as const)
    await t.tool('covibe_fixture', { operation: 'change', what: `canary-argument-${fail}`, ...(fail && { fail }) }, ana);
  await t.tool('covibe_fixture', { operation: 'canary-operation', 'canary-field': ana.token }, ana);
  await t.tool('canary_tool', {}, ana);
  await t.action('canary.action', {}, ana);
  metrics.observe({ name: 'unknown', surface: 'api', outcome: 'denied', seconds: 0.01 });
  await stop();
  expect(to.spans().length).toBeGreaterThan(6);
  const sent = to.bodies.join('\n');
  expect(sent).toContain('covenant_calls_total');
  expect(sent).not.toContain('canary');
  expect(sent).not.toContain(ana.token);
  expect(sent).not.toContain(t.operator.token);
  expect(sent).not.toContain(DEFAULT_WORKSPACE_ID);
});

test('exports a trace for a sweep that changed something, and no trace for an idle sweep', async () => {
  const to = await collector();
  const { tracer, stop } = telling(to.url);
  let runs = 0;
  const event = { category: 'work', kind: 'swept', actor: 'server', payload: {} } as const;
  const sweeping = {
    name: 'sweeping',
    implementations: [],
    sweeps: [
      { name: 'busy', everyMs: 1_000, run: () => t.app.store.append(DEFAULT_WORKSPACE_ID, [event]) },
      { name: 'idle', everyMs: 1_000, run: async () => void runs++ },
    ],
  };
  const t = await testApp({ features: [sweeping], tracer });
  t.clock.advance(1_000);
  await expect.poll(() => runs).toBe(1);
  await expect.poll(() => t.events({ kind: 'swept' })).toHaveLength(1);
  await t.app.close();
  await stop();
  const sweep = named(to, 'sweep busy');
  expect(sweep.parentSpanId).toBeUndefined();
  expect(to.spans().find(({ parentSpanId }) => parentSpanId === sweep.spanId)?.name).toBe('store.append');
  expect(to.spans().map(({ name }) => name)).not.toContain('sweep idle');
});

test.each(['fail', 'hang', 'gone'] as const)('a broken collector (%s) delays no call, and its spans are dropped, counted and reported once', async (how) => {
  // The timeout of each attempt. The exporter reads it when it is created.
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '300');
  onTestFinished(() => void vi.unstubAllEnvs());
  const to = await collector();
  if (how !== 'gone') to.behave(how);
  const { tracer, metrics, lines, stop } = telling(how === 'gone' ? 'http://127.0.0.1:9' : to.url, { OTEL_METRICS_EXPORTER: 'none' });
  const t = await testApp({ features: [fixtureFeature], tracer });
  const ana = await t.developer('ana');
  const answers = await Promise.all(Array.from({ length: 20 }, () => t.tool('covibe_fixture', { operation: 'look', what: 'x' }, ana)));
  expect(answers.filter(({ isError }) => isError)).toEqual([]);
  // More than the queue can hold.
  for (let i = 0; i < 6_000; i++) tracer?.begin('many', 'internal').end();
  const dropped = async () => Number(/^covenant_trace_spans_dropped_total (\d+)$/m.exec(await metrics.text())?.[1]);
  expect(await dropped()).toBeGreaterThan(1_500);
  expect((await t.tool('covibe_fixture', { operation: 'look', what: 'x' }, ana)).isError).toBe(false);
  await stop();
  await expect.poll(dropped).toBeGreaterThan(6_000);
  await expect.poll(() => lines.length).toBe(1);
  expect(lines).toEqual([expect.stringMatching(/^the collector does not accept traces, so they are dropped until it does \S/)]);
});

test('reports only once, and not at each export, that a collector accepts only traces', () => {
  const lines: string[] = [];
  const log = createLog('info', (line) => void lines.push(JSON.parse(line).message));
  const [traces, metrics] = [new CollectorStatus('traces', log), new CollectorStatus('metrics', log)];
  for (let times = 0; times < 3; times++) {
    metrics.record({ code: ExportResultCode.FAILED, error: new Error('Not Found') });
    traces.record({ code: ExportResultCode.SUCCESS });
  }
  expect(lines).toEqual(['the collector does not accept metrics, so they are dropped until it does']);
});

test('reports once, with the reason, that a collector accepted only some of the spans', async () => {
  const to = await collector();
  to.behave('partly');
  const { tracer, lines, stop } = telling(to.url, { OTEL_METRICS_EXPORTER: 'none' });
  // The size of one batch.
  for (const nth of [1, 2]) {
    for (let i = 0; i < 512; i++) tracer?.begin('one', 'internal').end();
    await to.request(nth);
  }
  await stop();
  expect(lines).toEqual([expect.stringMatching(/^telemetry .*too old/)]);
});

test('the export stops within its time limit even if the collector does not answer', async () => {
  const to = await collector();
  to.behave('hang');
  const { tracer, lines, stop } = telling(to.url, { OTEL_METRICS_EXPORTER: 'none' });
  tracer?.begin('last', 'internal').end();
  await Promise.all([stop(), to.request(1)]);
  // At this time the exporter still waits for the collector.
  expect(lines).toEqual([]);
});
