import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** So long others wait at most before they are served in between. */
const MAX_MS = 20;

/** To be asked between two steps of long work: a large context takes as long to count as a hundred other calls take in all. */
export class Turns {
  #since = performance.now();

  async next(): Promise<void> {
    if (performance.now() - this.#since < MAX_MS) return;
    await yieldToEventLoop();
    this.#since = performance.now();
  }
}
