import { Counter, collectDefaultMetrics, Gauge, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import { DEFAULT_SETTINGS } from '../../features/team/overlap/index.ts';
import type { Ports } from '../../kernel/ports.ts';
import type { App } from '../../main.ts';
import { missingFromSchema } from '../../storage/migrate.ts';
import { VERSION } from '../../version.ts';

export interface Metrics {
  readonly observe: Ports['observe'];
  readonly followers: { inc(): void; dec(): void };
  readonly terminals: { inc(): void; dec(): void };
  refused(reason: string): void;
  /** Spans that no collector has taken. */
  spansDropped(count: number): void;
  /** Prometheus text. */
  text(): Promise<string>;
  readonly contentType: string;
  /** The same, for who tells a collector. */
  values(): Promise<MetricObjectWithValues<MetricValue<string>>[]>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const calls = new Counter({ name: 'covenant_calls_total', help: 'Calls through the pipe.', labelNames: ['tool', 'surface', 'outcome'], registers });
  const seconds = new Histogram({
    name: 'covenant_call_seconds',
    help: 'Time from the pipe to the durable answer.',
    labelNames: ['surface'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  });
  const refusals = new Counter({ name: 'covenant_requests_refused_total', help: 'Requests refused before the pipe.', labelNames: ['reason'], registers });
  const dropped = new Counter({ name: 'covenant_trace_spans_dropped_total', help: 'Trace spans that no collector has taken.', registers });
  const followers = new Gauge({ name: 'covenant_event_followers', help: 'Open /api/events sockets.', registers });
  const terminals = new Gauge({ name: 'covenant_terminals', help: 'Open terminals of instances.', registers });
  // Finding a series by its labels costs more than counting in it. There are as many as tools, surfaces and outcomes.
  const series = new Map<string, Counter.Internal>();
  const countOf = (tool: string, surface: string, outcome: string): Counter.Internal => {
    const key = `${tool} ${surface} ${outcome}`;
    let found = series.get(key);
    if (!found) series.set(key, (found = calls.labels({ tool, surface, outcome })));
    return found;
  };
  return {
    observe({ name, surface, outcome, seconds: taken }) {
      countOf(name, surface, outcome).inc();
      seconds.observe({ surface }, taken);
    },
    followers: { inc: () => followers.inc(), dec: () => followers.dec() },
    terminals: { inc: () => terminals.inc(), dec: () => terminals.dec() },
    refused: (reason) => refusals.inc({ reason }),
    spansDropped: (count) => dropped.inc(count),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    values: () => registry.getMetricsAsJSON(),
  };
}

const KEEP_MS = 2_000;

/** The server's defaults: a workspace may have set its own, which are its own business. */
const CONFIG = { overlap: { warn: DEFAULT_SETTINGS.warn, escalate: DEFAULT_SETTINGS.escalate } };

export interface HealthReport {
  status: 'ok' | 'failing';
  version: string;
  /** Tells one running server from another, so that the CLI knows that it found the one it looked for. */
  instance: string;
  store: 'sqlite' | 'postgres';
  schema: number;
  /** What decides and is not secret. */
  config: { overlap: { warn: number; escalate: number } };
  checks: { database: 'ok' | 'unreachable'; schema: 'ok' | 'damaged' | 'unknown' };
}

/** Whether calls would succeed: the database answers and has every table, column and index. Says nothing of what is in it. */
export function createHealth(app: App, instance: string): () => Promise<HealthReport> {
  let kept: { health: Promise<HealthReport>; until: number } | undefined;
  return () => {
    if (!kept || performance.now() >= kept.until) kept = { health: check(), until: performance.now() + KEEP_MS };
    return kept.health;
  };

  async function check(): Promise<HealthReport> {
    const checks = await runChecks(app);
    const healthy = checks.database === 'ok' && checks.schema === 'ok';
    return { status: healthy ? 'ok' : 'failing', version: VERSION, instance, store: app.store.kind, schema: app.store.schemaVersion, config: CONFIG, checks };
  }
}

async function runChecks(app: App): Promise<HealthReport['checks']> {
  try {
    const missing = await missingFromSchema(app.store.engine);
    if (missing.length > 0) app.log.error('the database lacks parts of its schema', { missing: missing.slice(0, 10) });
    return { database: 'ok', schema: missing.length === 0 ? 'ok' : 'damaged' };
  } catch (error) {
    app.log.error('health check failed', { error });
    return { database: 'unreachable', schema: 'unknown' };
  }
}
