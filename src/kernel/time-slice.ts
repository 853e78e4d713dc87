import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** The longest time in milliseconds that other calls have to wait. */
const MAX_MS = 20;

/**
 * Splits long work so that other calls can run in between. For example, counting the tokens of a large context takes as long as a
 * hundred other calls.
 */
export class TimeSlice {
  #since = performance.now();

  /** Call this between two steps of the work. */
  async pauseIfOver(): Promise<void> {
    if (performance.now() - this.#since < MAX_MS) return;
    await yieldToEventLoop();
    this.#since = performance.now();
  }
}
