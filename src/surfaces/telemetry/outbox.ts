import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Log } from '../../kernel/log.ts';
import type { Signal } from './settings.ts';

/** The maximum number of spans that wait for a slow or unreachable collector. They use about 4 MB. */
const MAX_WAITING = 4_096;
const BATCH = 512;

/** Logs once when the collector stops accepting a signal, and once when it accepts it again. Many collectors accept only traces. */
export class CollectorStatus {
  readonly #signal: Signal;
  readonly #log: Log;
  #isAway = false;

  constructor(signal: Signal, log: Log) {
    this.#signal = signal;
    this.#log = log;
  }

  record({ code, error }: ExportResult): void {
    const isAway = code !== ExportResultCode.SUCCESS;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    // Logs only the message, because the error can contain the request's headers.
    if (isAway) this.#log.warn(`the collector does not accept ${this.#signal}, so they are dropped until it does`, { problem: error?.message });
    else this.#log.info(`the collector accepts ${this.#signal} again`);
  }
}

/**
 * Queues a limited number of spans for export. If a span does not fit into the queue or
 * the collector rejects it, the span is dropped and counted. No call waits for the export.
 */
export function createOutbox(exporter: SpanExporter, status: CollectorStatus, dropped: (count: number) => void): SpanProcessor {
  let waiting = 0;
  const counting: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        waiting -= spans.length;
        if (result.code !== ExportResultCode.SUCCESS) dropped(spans.length);
        status.record(result);
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
