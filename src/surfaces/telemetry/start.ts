import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { ExportResult } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { atMost } from '../../kernel/at-most.ts';
import type { Log } from '../../kernel/log.ts';
import type { Tracer } from '../../kernel/trace.ts';
import { VERSION } from '../../version.ts';
import type { Metrics } from '../http/metrics.ts';
import { metricsBridge } from './metrics-bridge.ts';
import { createOutbox, Reception } from './outbox.ts';
import { samplerFrom } from './sampler.ts';
import type { TelemetrySettings } from './settings.ts';
import { tracerOver } from './tracer.ts';

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
      await atMost(FLUSH_MS, done);
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
