import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import type { Json } from '../../../kernel/relay.ts';
import type { PendingCall } from './pending-calls.ts';

const KEPT_MS = 5 * 60_000;
const MAX_KEPT = 64;

const PREFIX = 'cvs_';

/** A request whose server waits for an answer of the caller. The caller has received `input_required` and is expected to call again. */
export interface Suspended {
  readonly pending: PendingCall;
  readonly outcome: Promise<Json>;
  /** The exact text of the request. The caller can continue only with the same request. */
  readonly request: string;
}

/** The requests that wait for their callers, limited in number and time. A caller needs only a token to continue, so tokens cannot be guessed. */
export class SuspendedCalls {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly call: Suspended; readonly forget: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Stores a request and returns its token, or undefined if too many requests are waiting already. */
  keep(call: Suspended): string | undefined {
    if (this.#kept.size >= MAX_KEPT) return undefined;
    const token = `${PREFIX}${randomBytes(32).toString('base64url')}`;
    const forget = this.#clock.after(KEPT_MS, () => {
      this.#kept.delete(token);
      call.pending.cancel(new Error('the answer did not arrive in time'));
    });
    this.#kept.set(token, { call, forget });
    return token;
  }

  /** Returns the stored request for a token. Each token works only once. */
  take(token: string, request: string): Suspended | undefined {
    const kept = this.#kept.get(token);
    if (!kept || kept.call.request !== request) return undefined;
    this.#kept.delete(token);
    kept.forget();
    return kept.call;
  }

  endAll(): void {
    for (const [token, { call, forget }] of this.#kept) {
      forget();
      this.#kept.delete(token);
      call.pending.cancel(new Error('the server was stopped'));
    }
  }
}
