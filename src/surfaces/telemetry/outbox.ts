import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Log } from '../../kernel/log.ts';
import type { Signal } from './settings.ts';

/** How many spans wait at most for a collector that is slow or away: some 4 MB. */
const MAX_WAITING = 4_096;
const BATCH = 512;

/** Says once that the collector takes none of a signal, and once that it does again. Many a collector takes traces alone. */
export class CollectorStatus {
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
export function createOutbox(exporter: SpanExporter, status: CollectorStatus, dropped: (count: number) => void): SpanProcessor {
  let waiting = 0;
  const counting: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        waiting -= spans.length;
        if (result.code !== ExportResultCode.SUCCESS) dropped(spans.length);
        status.heard(result);
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
