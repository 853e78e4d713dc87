import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { ExportResult } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { ConfigError } from '../../config.ts';
import { waitAtMost } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Tracer } from '../../kernel/trace.ts';
import { VERSION } from '../../version.ts';
import type { Metrics } from '../http/metrics.ts';
import { metricsBridge } from './metrics-bridge.ts';
import { CollectorStatus, createOutbox } from './outbox.ts';
import type { TelemetrySettings } from './settings.ts';
import { otelTracer } from './tracer.ts';

const ROOTS = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio: number) => new TraceIdRatioBasedSampler(ratio),
};

/** Reads the sampler from the standard variables. By default, a trace that a caller started keeps the sampling decision of that caller. */
export function samplerFrom(env: NodeJS.ProcessEnv): Sampler {
  const { OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: given = '' } = env;
  const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name || 'parentbased_always_on') ?? [];
  if (!kind) throw new ConfigError(`OTEL_TRACES_SAMPLER: expected always_on, always_off or traceidratio, optionally with the prefix parentbased_`);
  const ratio = given === '' || kind !== 'traceidratio' ? 1 : Number(given);
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1');
  const root = ROOTS[kind as keyof typeof ROOTS](ratio);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

export interface Telemetry {
  readonly tracer: Tracer | undefined;
  /** Sends the data in the queue. Waits only for a limited time, so that a collector that does not answer cannot block the stop. */
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

/** Starts the export. This file loads all of OpenTelemetry, so import it only if there is a collector. */
export function startTelemetry({ targets, env, log, metrics }: TelemetryParts): Telemetry {
  const own = { 'service.name': 'covenant', 'service.version': VERSION, 'service.instance.id': crypto.randomUUID() };
  const resource = resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] }));
  logWarnings(log);
  const [traces, counts] = [targets.get('traces'), targets.get('metrics')];
  const spans =
    traces &&
    createOutbox(new OTLPTraceExporter(traces.url === undefined ? {} : { url: traces.url }), new CollectorStatus('traces', log), metrics.spansDropped);
  const tracing = spans && new TracerProvider({ resource, sampler: samplerFrom(env), spanProcessors: [spans] });
  const counting = counts && new MeterProvider({ resource, readers: [reader(counts.url, new CollectorStatus('metrics', log), metrics)] });
  return {
    tracer: tracing && otelTracer(tracing.getTracer('covenant', VERSION)),
    async stop() {
      const done = Promise.allSettled([tracing?.shutdown(), counting?.shutdown()]);
      await waitAtMost(FLUSH_MS, done);
    },
  };
}

/**
 * Logs each warning of OpenTelemetry once, for example about an unreadable certificate or about spans of which the collector accepted only a part. Ignores
 * its errors, because they are failed exports, which `CollectorStatus` logs.
 */
function logWarnings(log: Log): void {
  const told = new Set<string>();
  const quiet = () => {};
  const warn = (message: string, ...details: unknown[]) => {
    if (told.has(message)) return;
    told.add(message);
    log.warn('telemetry', { problem: [message, ...details.filter((detail) => typeof detail === 'string')].join(' ').slice(0, LONGEST_WARNING) });
  };
  diag.setLogger({ error: quiet, warn, info: quiet, debug: quiet, verbose: quiet }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

function reader(url: string | undefined, status: CollectorStatus, metrics: TelemetryParts['metrics']): PeriodicExportingMetricReader {
  class Exporter extends OTLPMetricExporter {
    override export(batch: ResourceMetrics, done: (result: ExportResult) => void): void {
      super.export(batch, (result) => {
        status.record(result);
        done(result);
      });
    }
  }
  return new PeriodicExportingMetricReader({ exporter: new Exporter(url === undefined ? {} : { url }), metricProducers: [metricsBridge(metrics)] });
}
