import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import type { Json } from '../../../kernel/relay.ts';
import type { PendingCall } from './pending-calls.ts';

const KEPT_MS = 5 * 60_000;
const MAX_KEPT = 64;

const PREFIX = 'cvs_';

/** A request that waits at its server for an answer of its caller, who has been answered `input_required` and calls again. */
export interface Suspended {
  readonly pending: PendingCall;
  readonly outcome: Promise<Json>;
  /** The request, to the letter: only the same one goes on with it. */
  readonly request: string;
}

/** Bounded in number and time. The token is all that a caller needs to go on, so nobody can guess one. */
export class SuspendedCalls {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly call: Suspended; readonly forget: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: there are too many. */
  keep(call: Suspended): string | undefined {
    if (this.#kept.size >= MAX_KEPT) return undefined;
    const token = `${PREFIX}${randomBytes(32).toString('base64url')}`;
    const forget = this.#clock.after(KEPT_MS, () => {
      this.#kept.delete(token);
      call.pending.cancel(new Error('the answer did not come in time'));
    });
    this.#kept.set(token, { call, forget });
    return token;
  }

  /** Once. */
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
      call.pending.cancel(new Error('the server was ended'));
    }
  }
}
