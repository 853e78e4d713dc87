import { expect, test } from 'vitest';
import { collector } from '../../testing/stand-ins/collector.ts';
import { createMetrics } from '../http/metrics.ts';
import { telemetrySettings } from './settings.ts';
import { startTelemetry } from './start.ts';

const SILENT = { level: 'error', error() {}, warn() {}, info() {}, debug() {} } as const;

test('exports the same counts that /metrics shows', async () => {
  const to = await collector();
  const metrics = createMetrics();
  const { targets } = telemetrySettings({ telemetry: { otlp_endpoint: `${to.url}/` } }, {});
  const { stop } = startTelemetry({ targets, env: {}, log: SILENT, metrics });
  for (const seconds of [0.002, 0.002, 0.2, 100]) metrics.observe({ name: 'echo', surface: 'mcp', outcome: 'ok', seconds });
  metrics.observe({ name: 'unknown', surface: 'api', outcome: 'denied', seconds: 0.002 });
  metrics.followers.inc();
  await stop();

  expect(await metrics.text()).toContain('covenant_calls_total{tool="echo",surface="mcp",outcome="ok"} 4');
  expect(to.points('covenant_calls_total').map(({ attributes, value }) => [attributes, value])).toEqual([
    [{ tool: 'echo', surface: 'mcp', outcome: 'ok' }, 4],
    [{ tool: 'unknown', surface: 'api', outcome: 'denied' }, 1],
  ]);
  expect(to.points('covenant_event_followers')[0]?.value).toBe(1);
  expect(to.points('process_start_time_seconds')[0]?.value).toBeGreaterThan(0);
  const [mcp] = to.points('covenant_call_seconds');
  expect(mcp?.attributes).toEqual({ surface: 'mcp' });
  expect([mcp?.count, mcp?.sum]).toEqual([4, 100.204]);
  expect(mcp?.explicitBounds).toEqual([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]);
  expect(mcp?.bucketCounts).toEqual([0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
});
