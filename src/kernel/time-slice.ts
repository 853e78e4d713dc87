import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Other calls wait at most this long. */
const MAX_MS = 20;

/** Divides long work, so that other calls run in between: to count a large context takes as long as a hundred other calls. */
export class TimeSlice {
  #since = performance.now();

  /** Call it between two steps of the work. */
  async pauseIfOver(): Promise<void> {
    if (performance.now() - this.#since < MAX_MS) return;
    await yieldToEventLoop();
    this.#since = performance.now();
  }
}
