import autocannon from 'autocannon';
import type { Rate } from './turns.ts';

export interface Load {
  url: string;
  headers?: Record<string, string>;
  body: unknown;
  connections: number;
  seconds: number;
  /** Text that a correct answer contains. It is checked before the measurement, so that refused calls are not measured by mistake. */
  expect: string;
}

export async function measure(load: Load): Promise<Rate> {
  const request = { method: 'POST' as const, headers: { 'content-type': 'application/json', ...load.headers }, body: JSON.stringify(load.body) };
  const probe = await fetch(load.url, request);
  const text = await probe.text();
  if (!probe.ok || !text.includes(load.expect)) throw new Error(`${load.url} answered ${probe.status}: ${text.slice(0, 300)}`);
  const result = await autocannon({ ...request, url: load.url, connections: load.connections, duration: load.seconds });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${load.url}: ${result.non2xx} refusals, ${result.errors} errors`);
  return { perSecond: Math.round(result.requests.average), p50: result.latency.p50, p99: result.latency.p99 };
}
