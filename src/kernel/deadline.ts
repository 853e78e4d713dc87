import { setTimeout as wait } from 'node:timers/promises';
import type { Exchange } from './relay.ts';
import { Refusal } from './reply.ts';

const timedOut = (ms: number) => new Refusal('TOOL_TIMEOUT', `The call took longer than ${ms} ms and was given up.`, 'Read the state, then call again.');
const shuttingDown = () => new Refusal('SHUTTING_DOWN', 'The server is stopping.', 'Read the state when it is back, then call again.');
const callerGone = () => new Refusal('CALLER_GONE', 'The caller has gone before its turn came.', 'Call again.');

/** As long, in all, a person who is asked in the middle of a call may take without the call's own time running. */
const ASKING_MS = 5 * 60_000;

/** How long a call may take. Its signal aborts with the refusal that the call is then answered with. */
export class Deadline implements Disposable {
  /** Made when somebody asks for the signal: most calls are over before anybody does. */
  #controller: AbortController | undefined;
  #refusal: Refusal | undefined;
  readonly #ms: number;
  #timer: NodeJS.Timeout;
  #dueAt: number;
  #allowanceMs: number;
  #asking = 0;
  #askedAt = 0;
  readonly #caller: AbortSignal | undefined;
  readonly #live: Set<Deadline>;
  #giveUp: ((refusal: Refusal) => void) | undefined;
  /** Its time is up, or the server stops: work that is raced from now on is given up at once. */
  #over: Refusal | undefined;

  constructor(ms: number, caller: AbortSignal | undefined, live: Set<Deadline>, allowanceMs = ASKING_MS) {
    this.#ms = ms;
    this.#allowanceMs = allowanceMs;
    this.#caller = caller;
    this.#live = live;
    live.add(this);
    this.#dueAt = performance.now() + ms;
    this.#timer = this.#wake(ms);
    caller?.addEventListener('abort', this.#onCallerGone);
    // Gone while the call was on its way here: nobody tells of that again.
    if (caller?.aborted) this.#onCallerGone();
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#refusal) this.#controller.abort(this.#refusal);
    return this.#controller.signal;
  }

  /** The work, or the refusal once there is no more time for it. Work for a caller that has gone is not given up. */
  async race<T>(work: Promise<T>): Promise<T> {
    const expired = new Promise<never>((_, reject) => {
      this.#giveUp = reject;
      if (this.#over) reject(this.#over);
    });
    return await Promise.race([work, expired]);
  }

  /** The time that this takes does not count, up to the allowance: the caller is asked something. */
  async asking<T>(answer: () => Promise<T>): Promise<T> {
    if (this.#asking++ === 0) {
      this.#askedAt = performance.now();
      this.#due(this.#dueAt + this.#allowanceMs);
    }
    try {
      return await answer();
    } finally {
      if (--this.#asking === 0) {
        const spent = Math.min(performance.now() - this.#askedAt, this.#allowanceMs);
        this.#allowanceMs -= spent;
        this.#dueAt += spent;
        this.#due(this.#dueAt);
      }
    }
  }

  shutDown(): void {
    this.#end(shuttingDown());
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#live.delete(this);
    this.#caller?.removeEventListener('abort', this.#onCallerGone);
  }

  #wake(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#end(timedOut(this.#ms)), ms);
  }

  #due(at: number): void {
    // Over and answered: nothing is due any more.
    if (!this.#live.has(this)) return;
    clearTimeout(this.#timer);
    this.#timer = this.#wake(at - performance.now());
  }

  readonly #onCallerGone = (): void => this.#abort(callerGone());

  #end(refusal: Refusal): void {
    this.#over ??= refusal;
    this.#abort(refusal);
    this.#giveUp?.(refusal);
  }

  #abort(refusal: Refusal): void {
    this.#refusal ??= refusal;
    this.#controller?.abort(this.#refusal);
  }
}

/** How long a person takes to answer says nothing of the call. */
export function untimed(exchange: Exchange, deadline: Deadline): Exchange {
  const { ask } = exchange;
  return ask ? { ...exchange, ask: (...question) => deadline.asking(() => ask(...question)) } : exchange;
}

/** Resolves when the work is done, or has had its time. What becomes of it after that is not waited for. */
export async function withTimeout(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  try {
    await Promise.race([work, wait(ms, undefined, { signal: enough.signal }).catch(() => {})]);
  } finally {
    enough.abort();
  }
}
