import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import type { Json } from '../../../kernel/relay.ts';
import type { PendingCall } from './pending-calls.ts';

const KEPT_MS = 5 * 60_000;
const MAX_KEPT = 64;

const PREFIX = 'cvs_';

/** A request that waits at its server for an answer from its caller. The caller received `input_required` and will call again. */
export interface Suspended {
  readonly pending: PendingCall;
  readonly outcome: Promise<Json>;
  /** The exact request: only the same one can continue it. */
  readonly request: string;
}

/** Limited in number and time. The token alone lets a caller continue, so it must not be guessable. */
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
      call.pending.cancel(new Error('the answer did not arrive in time'));
    });
    this.#kept.set(token, { call, forget });
    return token;
  }

  /** Works once. */
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
