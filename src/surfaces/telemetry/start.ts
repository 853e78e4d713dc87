import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { ConfigError } from '../../config.ts';
import { withTimeout } from '../../kernel/clock.ts';
import type { Log, SpanAttributes, TraceContext, Tracer, TraceSpan } from '../../kernel/trace.ts';
import { VERSION } from '../../version.ts';
import type { Metrics } from '../http/metrics.ts';
import { metricsBridge } from './metrics-bridge.ts';
import type { Signal, TelemetrySettings } from './settings.ts';

const ROOTS = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio: number) => new TraceIdRatioBasedSampler(ratio),
};

/** By the standard variables. Unless they say otherwise, a caller that has decided about its trace has decided about ours. */
export function samplerFrom(env: NodeJS.ProcessEnv): Sampler {
  const { OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: given = '' } = env;
  const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name || 'parentbased_always_on') ?? [];
  if (!kind) throw new ConfigError(`OTEL_TRACES_SAMPLER: expected always_on, always_off or traceidratio, maybe after parentbased_`);
  const ratio = given === '' || kind !== 'traceidratio' ? 1 : Number(given);
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1');
  const root = ROOTS[kind as keyof typeof ROOTS](ratio);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

/** How many spans wait at most for a collector that is slow or away: some 4 MB. */
const MAX_WAITING = 4_096;
const BATCH = 512;

/** Says once that the collector takes none of a signal, and once that it does again. Many a collector takes traces alone. */
export class Reception {
  readonly #signal: Signal;
  readonly #log: Log;
  #isAway = false;

  constructor(signal: Signal, log: Log) {
    this.#signal = signal;
    this.#log = log;
  }

  heard({ code, error }: ExportResult): void {
    const isAway = code !== ExportResultCode.SUCCESS;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    // Its message alone: the rest may hold the headers that were sent.
    if (isAway) this.#log.warn(`the collector takes no ${this.#signal}; they are dropped until it does`, { problem: error?.message });
    else this.#log.info(`the collector takes ${this.#signal} again`);
  }
}

/** Spans on their way out. A bounded number waits; what finds no room, or is not taken, is dropped and counted. No call ever waits for it. */
export function createOutbox(exporter: SpanExporter, reception: Reception, dropped: (count: number) => void): SpanProcessor {
  let waiting = 0;
  const counting: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        waiting -= spans.length;
        if (result.code !== ExportResultCode.SUCCESS) dropped(spans.length);
        reception.heard(result);
        done(result);
      }),
    forceFlush: async () => await exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({ exporter: counting, maxQueueSize: MAX_WAITING, maxExportBatchSize: BATCH });
  return {
    onStart: () => {},
    onEnd: (span: ReadableSpan) => {
      if (waiting >= MAX_WAITING) return dropped(1);
      waiting++;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const w3c = new W3CTraceContextPropagator();

/** The kernel's words in OpenTelemetry's. Parents are given, never looked up: the kernel knows what runs for what. */
export function tracerOver(otel: OtelTracer): Tracer {
  const open = (name: string, kind: keyof typeof KINDS, parent: Context, said: SpanAttributes = {}): TraceSpan =>
    asTraceSpan(otel.startSpan(name, { kind: KINDS[kind], attributes: { ...said } }, parent));

  const asTraceSpan = (span: Span): TraceSpan => {
    const inside = trace.setSpan(ROOT_CONTEXT, span);
    return {
      traceId: span.spanContext().traceId,
      get context() {
        const carried: { traceparent: string; tracestate?: string } = { traceparent: '' };
        w3c.inject(inside, carried, defaultTextMapSetter);
        return carried;
      },
      child: (name, kind, said) => open(name, kind, inside, said),
      rename: (name) => void span.updateName(name),
      say: (said) => void span.setAttributes({ ...said }),
      fail: (type) => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
      end: () => span.end(),
    };
  };

  return { begin: (name, kind, from) => open(name, kind, from ? parentOf(from) : ROOT_CONTEXT) };
}

/** What is no trace context begins a trace of its own. */
const parentOf = (from: TraceContext): Context => w3c.extract(ROOT_CONTEXT, { ...from }, defaultTextMapGetter);

export interface Telemetry {
  readonly tracer: Tracer | undefined;
  /** Sends what waits, within a bound: a collector that hangs does not keep the server from its end. */
  stop(): Promise<void>;
}

interface TelemetryParts {
  readonly targets: TelemetrySettings['targets'];
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'values' | 'spansDropped'>;
}

const FLUSH_MS = 1_000;
const LONGEST_WARNING = 300;

/** Everything of OpenTelemetry is loaded with this file: import it when there is somebody to tell. */
export function startTelemetry({ targets, env, log, metrics }: TelemetryParts): Telemetry {
  const own = { 'service.name': 'covenant', 'service.version': VERSION, 'service.instance.id': crypto.randomUUID() };
  const resource = resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }));
  tellWarnings(log);
  const [traces, counts] = [targets.get('traces'), targets.get('metrics')];
  const spans =
    traces && createOutbox(new OTLPTraceExporter(traces.url === undefined ? {} : { url: traces.url }), new Reception('traces', log), metrics.spansDropped);
  const tracing = spans && new TracerProvider({ resource, sampler: samplerFrom(env), spanProcessors: [spans] });
  const counting = counts && new MeterProvider({ resource, readers: [reader(counts.url, new Reception('metrics', log), metrics)] });
  return {
    tracer: tracing && tracerOver(tracing.getTracer('covenant', VERSION)),
    async stop() {
      const done = Promise.allSettled([tracing?.shutdown(), counting?.shutdown()]);
      await withTimeout(FLUSH_MS, done);
    },
  };
}

/**
 * What OpenTelemetry warns of (a certificate that cannot be read, spans that a collector took only in part), each thing once. Not its
 * errors: those are exports that failed, which a reception tells of.
 */
function tellWarnings(log: Log): void {
  const told = new Set<string>();
  const quiet = () => {};
  const warn = (message: string, ...details: unknown[]) => {
    if (told.has(message)) return;
    told.add(message);
    log.warn('telemetry', { problem: [message, ...details.filter((detail) => typeof detail === 'string')].join(' ').slice(0, LONGEST_WARNING) });
  };
  diag.setLogger({ error: quiet, warn, info: quiet, debug: quiet, verbose: quiet }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

function reader(url: string | undefined, reception: Reception, metrics: TelemetryParts['metrics']): PeriodicExportingMetricReader {
  class Exporter extends OTLPMetricExporter {
    override export(batch: ResourceMetrics, done: (result: ExportResult) => void): void {
      super.export(batch, (result) => {
        reception.heard(result);
        done(result);
      });
    }
  }
  return new PeriodicExportingMetricReader({ exporter: new Exporter(url === undefined ? {} : { url }), metricProducers: [metricsBridge(metrics)] });
}
