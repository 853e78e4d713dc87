import { Refusal } from './errors.ts';

const timedOut = (ms: number) => new Refusal('TOOL_TIMEOUT', `The call took longer than ${ms} ms and was given up.`, 'Read the state, then call again.');
const shuttingDown = () => new Refusal('SHUTTING_DOWN', 'The server is stopping.', 'Read the state when it is back, then call again.');
const callerGone = () => new Refusal('CALLER_GONE', 'The caller has gone before its turn came.', 'Call again.');

/** How long a call may take. Its signal aborts with the refusal that the call is then answered with. */
export class Deadline implements Disposable {
  /** Made when somebody asks for the signal: most calls are over before anybody does. */
  #controller: AbortController | undefined;
  #refusal: Refusal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal | undefined;
  readonly #live: Set<Deadline>;
  #giveUp: ((refusal: Refusal) => void) | undefined;

  constructor(ms: number, caller: AbortSignal | undefined, live: Set<Deadline>) {
    this.#caller = caller;
    this.#live = live;
    live.add(this);
    this.#timer = setTimeout(() => this.#end(timedOut(ms)), ms);
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
    });
    return await Promise.race([work, expired]);
  }

  shutDown(): void {
    this.#end(shuttingDown());
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#live.delete(this);
    this.#caller?.removeEventListener('abort', this.#onCallerGone);
  }

  readonly #onCallerGone = (): void => this.#abort(callerGone());

  #end(refusal: Refusal): void {
    this.#abort(refusal);
    this.#giveUp?.(refusal);
  }

  #abort(refusal: Refusal): void {
    this.#refusal ??= refusal;
    this.#controller?.abort(this.#refusal);
  }
}
