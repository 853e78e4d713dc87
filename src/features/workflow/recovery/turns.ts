import { setImmediate as turn } from 'node:timers/promises';

/** So long others wait at most before they are served in between. */
const MOST_MS = 20;

/** To be asked between two steps of long work: a large context takes as long to count as a hundred other calls take in all. */
export class Turns {
  #since = performance.now();

  async next(): Promise<void> {
    if (performance.now() - this.#since < MOST_MS) return;
    await turn();
    this.#since = performance.now();
  }
}
