import type { Readable } from 'node:stream';

export interface LineOptions {
  readonly maxBytes: number;
  /** What to do with a line over `maxBytes`. `cut` shortens the line. A function is called once, and reading stops. */
  readonly tooLong: 'cut' | (() => void);
  /** Receives a line without its line end. Returns a weight for the time spent on the line. The weight is 0 if the line was requested, such as an answer. */
  line(text: string): number;
  /**
   * The share of the time that may be spent on lines that nobody requested. If a writer exceeds it, the stream is read more slowly, so that the writer has to
   * wait.
   */
  readonly share: number;
  /** Called when reading is slowed down. */
  slowed?(): void;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** After this time, processing pauses to let other work run. */
const SLICE_MS = 8;
/** How much time a writer may use at once before the limit applies. */
const BURST_MS = 250;
/** An estimate of the time that the system itself needs for each byte, which cannot be measured here. */
const MS_PER_BYTE = 4 / (1024 * 1024);
const SMALLEST = 4096;

/**
 * Reads a stream line by line. It works in short slices and limits the length of a line, so that neither many lines nor an endless line can block the event
 * loop or fill the memory. A line is decoded only when it is complete, because a character may span two chunks. Resolves after the last line was delivered,
 * even if that line has no newline.
 */
export function readLines(stream: Readable, options: LineOptions): Promise<void> {
  const { maxBytes, tooLong, line, share } = options;
  const partial = new LineBuffer(maxBytes);
  /** Chunks that were read but not processed yet. */
  const chunks: Buffer[] = [];
  let ended = false;
  let over = false;
  let turn: NodeJS.Timeout | NodeJS.Immediate | undefined;
  let allowanceMs = BURST_MS;
  let allowedAt = performance.now();

  return new Promise((resolve) => {
    const finish = () => {
      if (over) return;
      over = true;
      chunks.length = 0;
      clearTimeout(turn as NodeJS.Timeout | undefined);
      stream.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve();
    };

    const give = (bytes: Buffer): number => line(bytes.toString('utf8', 0, bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length));

    /** Processes the chunk up to its first line end. Returns how many bytes were processed, and the weight of the time spent on them. */
    const take = (chunk: Buffer): [used: number, weight: number] => {
      const at = chunk.indexOf(NEWLINE);
      const piece = at < 0 ? chunk : chunk.subarray(0, at);
      const isLong = partial.length + piece.length > maxBytes;
      if (isLong && tooLong !== 'cut') {
        finish();
        tooLong();
        return [chunk.length, 0];
      }
      if (at >= 0 && partial.length === 0) return [at + 1, give(piece.subarray(0, maxBytes))];
      partial.add(piece);
      return at < 0 ? [chunk.length, isLong ? 1 : 0] : [at + 1, give(partial.take())];
    };

    const work = () => {
      turn = undefined;
      const began = performance.now();
      allowanceMs = Math.min(BURST_MS, allowanceMs + (began - allowedAt) * share);
      allowedAt = began;
      for (let before = began; ; ) {
        const chunk = chunks[0];
        if (!chunk) break;
        const [used, weight] = take(chunk);
        if (over) return;
        if (used < chunk.length) chunks[0] = chunk.subarray(used);
        else chunks.shift();
        const now = performance.now();
        allowanceMs -= weight * (now - before + used * MS_PER_BYTE);
        if (allowanceMs < 0) return rest(-allowanceMs / share);
        if (now - began > SLICE_MS) return rest(0);
        before = now;
      }
      if (!ended) return void stream.resume();
      if (partial.length > 0) give(partial.take());
      finish();
    };

    const rest = (ms: number) => {
      stream.pause();
      if (ms > 0) options.slowed?.();
      turn = ms > 0 ? setTimeout(work, Math.max(ms, 10)) : setImmediate(work);
    };

    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      // Even a paused stream may emit data, because Node reads the rest of the output when the process has ended.
      if (!turn) work();
    };
    const onEnd = () => {
      ended = true;
      if (!turn) work();
    };
    // If the stream is closed before it has ended, the rest is not needed.
    const onClose = () => {
      if (!ended) finish();
    };
    stream.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/** Collects the pieces of a line in one buffer. Otherwise a line that arrives byte by byte would create a million objects. */
class LineBuffer {
  #buffer = Buffer.alloc(0);
  #length = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds as much of the piece as fits below the limit. */
  add(piece: Buffer): void {
    const kept = piece.subarray(0, this.#most - this.#length);
    const needed = this.#length + kept.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#most, Math.max(SMALLEST, needed * 2)));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    kept.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  take(): Buffer {
    const line = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return line;
  }
}
