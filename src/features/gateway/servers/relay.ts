import type { Clock } from '../../../kernel/clock.ts';
import { isInputRequired, type Json, type RelayContext, roundUnknown } from '../../../kernel/relay.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import { answersUnderOwnKeys, attributeInputRequests } from './attribution.ts';
import type { UpstreamConnection } from './connection.ts';
import { failureOf, type RequestFailure } from './failures.ts';
import { PendingCall } from './pending-calls.ts';
import { cannotAskRefusal } from './refusals.ts';
import type { Supervisor } from './supervisor.ts';
import { type Suspended, SuspendedCalls } from './suspended-calls.ts';

const ASKED = Symbol('asked');

/** A request to a server. `schema` is the input schema of the called tool. */
export interface ServerRequest {
  readonly method: string;
  readonly params: Json;
  readonly schema?: Json;
}

/** Sends requests of callers to a server and returns the results. Caller and server may use different protocol revisions. */
export class Relay {
  readonly #supervisor: Supervisor;
  readonly #suspended: SuspendedCalls;
  readonly #clock: Clock;

  constructor(supervisor: Supervisor, clock: Clock) {
    this.#supervisor = supervisor;
    this.#clock = clock;
    this.#suspended = new SuspendedCalls(clock);
  }

  async request(request: ServerRequest, ctx: RelayContext): Promise<Json> {
    const { exchange } = ctx;
    const connection = await this.#supervisor.connected(ctx.signal);
    const token = exchange?.rounds?.requestState;
    // Servers with the newer revision create request states themselves. They may look like Covenant's, if the server is a Covenant gateway too.
    if (token !== undefined && !connection.modern) {
      const kept = this.#suspended.take(token, canonicalText(request));
      if (!kept) throw roundUnknown();
      kept.pending.resume(exchange);
      return await this.#round(kept, ctx);
    }
    const { name } = this.#supervisor.entry;
    const pending = new PendingCall(name, exchange && answersUnderOwnKeys(name, exchange));
    return await this.#round({ pending, outcome: this.#sendOnceKnown(connection, pending, request), request: () => canonicalText(request) }, ctx);
  }

  /** Ends the calls that wait for answers of their callers. Called when the connection to the server has ended. */
  endSuspended(): void {
    this.#suspended.endAll();
  }

  /** Waits until the server sends its result or asks a question. The caller answers questions by calling again. */
  async #round(call: RelayedCall, ctx: RelayContext): Promise<Json> {
    const { pending, outcome } = call;
    const cancel = () => pending.cancel(ctx.signal.reason);
    if (ctx.signal.aborted) cancel();
    ctx.signal.addEventListener('abort', cancel, { once: true });
    try {
      const asked = pending.exchange?.rounds ? pending.question().then(() => ASKED) : outcome;
      const first = await Promise.race([outcome, asked]);
      return typeof first === 'symbol' ? this.#suspend(call) : this.#complete(first, ctx);
    } finally {
      ctx.signal.removeEventListener('abort', cancel);
    }
  }

  #suspend({ pending, outcome, request }: RelayedCall): Json {
    // Nobody handles a failure of the request until the caller calls again.
    outcome.catch(() => {});
    const requestState = this.#suspended.keep({ pending, outcome, request: typeof request === 'string' ? request : request() });
    if (requestState === undefined) {
      const full = new Refusal(
        'TOO_MANY_QUESTIONS',
        `Too many calls to the server ${pending.server} already wait for answers from their callers.`,
        'Repeat the call later: unanswered calls expire after 5 minutes.',
      );
      pending.cancel(full);
      throw full;
    }
    pending.suspend(this.#clock.now());
    const inputRequests = Object.fromEntries([...pending.questions].map(([key, { request: asked }]) => [key, asked]));
    return { resultType: 'input_required', inputRequests, requestState };
  }

  #complete(result: Json, { exchange }: RelayContext): Json {
    const { name } = this.#supervisor.entry;
    if (!isInputRequired(result)) return result;
    if (exchange?.rounds) return attributeInputRequests(name, result);
    const [first] = Object.values((result.inputRequests ?? {}) as Record<string, Json>);
    throw cannotAskRefusal(name, String(first?.method ?? 'another round'));
  }

  async #sendOnceKnown(connection: UpstreamConnection, pending: PendingCall, request: ServerRequest): Promise<Json> {
    try {
      return await this.#send(connection, pending, request);
    } catch (error) {
      const { health, thrown } = this.#failure(error, pending);
      this.#supervisor.judge(connection, health);
      // If the server is down, its problem and the time of the next start help the caller more than the message about the lost connection.
      if (thrown instanceof Refusal && thrown.code === 'UPSTREAM_DOWN' && this.#supervisor.state === 'down') throw this.#supervisor.refusal();
      if (health !== 'forgotten') throw thrown;
      // It is safe to send the request again: the server did not know the session, so it has not executed anything.
      const next = await this.#supervisor.connected(pending.signal);
      return await this.#send(next, pending, request).catch((again) => {
        throw this.#failure(again, pending).thrown;
      });
    }
  }

  async #send(connection: UpstreamConnection, pending: PendingCall, { method, params, schema }: ServerRequest): Promise<Json> {
    connection.pendingCalls.enter(pending);
    try {
      const result = await connection.request(method, params, pending, schema);
      this.#supervisor.judge(connection, 'well');
      return result;
    } finally {
      connection.pendingCalls.leave(pending);
    }
  }

  #failure(error: unknown, { signal, waitedForCaller }: PendingCall): RequestFailure {
    if (!signal.aborted) return failureOf(this.#supervisor.entry.name, error);
    const { reason } = signal;
    if (!(reason instanceof Refusal)) return { health: 'well', thrown: roundUnknown() };
    // If a person took too long to answer, that is not the fault of the server.
    return { health: reason.code === 'TOOL_TIMEOUT' && !waitedForCaller ? 'strike' : 'unknown', thrown: reason };
  }
}

type RelayedCall = Omit<Suspended, 'request'> & { readonly request: string | (() => string) };

/** The text of a request. The order of its keys does not matter. */
function canonicalText({ method, params }: ServerRequest): string {
  try {
    return canonicalJson([method, params]);
  } catch {
    return JSON.stringify([method, params]);
  }
}
