import { Counter, collectDefaultMetrics, Gauge, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { Ports } from '../../kernel/ports.ts';

export interface Metrics {
  readonly observe: Ports['observe'];
  readonly followers: { inc(): void; dec(): void };
  readonly terminals: { inc(): void; dec(): void };
  refused(reason: string): void;
  /** Counts spans that were not delivered to a collector. */
  spansDropped(count: number): void;
  text(): Promise<string>;
  readonly contentType: string;
  /** Returns the same values as `text`, for export to a collector. */
  values(): Promise<MetricObjectWithValues<MetricValue<string>>[]>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const calls = new Counter({ name: 'covenant_calls_total', help: 'Tool and action calls.', labelNames: ['tool', 'surface', 'outcome'], registers });
  const seconds = new Histogram({
    name: 'covenant_call_seconds',
    help: 'Time from the start of a call until its answer is durable.',
    labelNames: ['surface'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  });
  const refusals = new Counter({
    name: 'covenant_requests_refused_total',
    help: 'Requests that were refused before a call began.',
    labelNames: ['reason'],
    registers,
  });
  const dropped = new Counter({ name: 'covenant_trace_spans_dropped_total', help: 'Trace spans that were not delivered to a collector.', registers });
  const followers = new Gauge({ name: 'covenant_event_followers', help: 'Open /api/events sockets.', registers });
  const terminals = new Gauge({ name: 'covenant_terminals', help: 'Open terminals of agents that the server started.', registers });
  // The series are cached, because looking up a series by its labels takes longer than
  // counting. The map stays small: it has one entry for each tool, surface and outcome.
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
