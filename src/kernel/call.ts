import { hash } from 'node:crypto';
import type { Db } from '../storage/engine.ts';
import { canonicalJson, type NewEvent } from '../storage/journal.ts';
import type { Store } from '../storage/open.ts';
import type { Tx, WriteCallback } from '../storage/write.ts';
import type { Clock } from './clock.ts';
import type { Toolset } from './contract.ts';
import { excerpt } from './excerpt.ts';
import type { Log } from './log.ts';
import type { Aside, CallKind } from './ports.ts';
import type { Exchange, Json, RelayContext, RpcError } from './relay.ts';
import { Refusal, type Refused, type Reply } from './reply.ts';
import type { RequestScope, TraceContext } from './trace.ts';

export type PrincipalKind = 'operator' | 'developer' | 'agent' | 'instance';

/** The caller. Only authentication makes it; no input can change it. */
export interface Principal {
  readonly kind: PrincipalKind;
  readonly workspace: string;
  readonly tokenId: string;
  readonly developerId: string | null;
  readonly developerName: string | null;
  readonly agentType: string | null;
  readonly instanceId: string | null;
  /** Signed in with the dashboard's cookie rather than a token. */
  readonly web: boolean;
  /** When the person at the dashboard opened their sign-in link; null for every other caller. */
  readonly signedInAt: number | null;
  /** May administer the server: the local operator, and a workspace's first developer on the dashboard. */
  readonly operator: boolean;
  /** May run agents on the server's machine: the server's operator, and workspace operators to whom that operator gave the permission. */
  readonly runsAgents: boolean;
  /** The caller's id in the journal. It contains ids only, never a name. */
  readonly actor: string;
  /** The subjects whose grants this caller may use. */
  readonly subjects: readonly string[];
}

/** Where a caller works, as its bridge or CLI reports it. It fills in omitted fields and grants no permission. */
export interface CallerPlace {
  /** An absolute path on the caller's machine. */
  readonly folder: string;
  /** The remote's address without credentials, or the folder's name; null outside a repository. */
  readonly repo: string | null;
  /** Null if no branch is checked out. */
  readonly branch: string | null;
}

export type Surface = 'mcp' | 'api' | 'dashboard' | 'cli';

/** Everything a handler receives besides its input. */
export interface CallContext {
  readonly principal: Principal;
  readonly workspace: string;
  readonly surface: Surface;
  readonly requestId: string;
  /** The agent session that the call named and owns; its events are linked to it. */
  readonly session: string | null;
  /** Where the caller works, as its bridge or CLI reports it: an absolute path on the caller's machine. */
  readonly repository: string | null;
  /** The same place, by the names that a team uses; null if the caller reported none. */
  readonly place: CallerPlace | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Committed state. */
  readonly reader: Db;
  /** Aborts when the call takes too long or the caller disconnects. */
  readonly signal: AbortSignal;
  write<T>(callback: WriteCallback<T>): Promise<T>;
  /** A write that also runs after the deadline, because effects outside the store must be recorded. */
  settle<T>(callback: WriteCallback<T>): Promise<T>;
}

/** Inside a transaction a handler has only `tx`, because a second write would wait forever for the first one to end. */
export type WriteContext = Omit<CallContext, 'write' | 'settle' | 'reader'>;

/** An event by this caller, linked to the session that the call named. */
export function record(tx: Tx, ctx: WriteContext, event: Omit<NewEvent, 'actor'>): number {
  return tx.append({ session: ctx.session, ...event, actor: ctx.principal.actor });
}

/** Work outside the store that remains after a handler's transaction. */
export class Deferred<P> {
  readonly work: P;
  constructor(work: P) {
    this.work = work;
  }
}

/** The services that every feature may use, created once in `main.ts`. */
export interface Services {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

export interface CallRequest {
  readonly name: string;
  readonly args: unknown;
  readonly principal: Principal;
  readonly surface: Surface;
  /** The workspace that the operator named. All other callers act in the workspace of their token. */
  readonly workspace?: string | undefined;
  /** The repository in which the caller's bridge or CLI runs, as it reports it. */
  readonly repository?: string | undefined;
  readonly place?: CallerPlace | undefined;
  /** The toolsets that the caller's path serves; undefined: all of them. */
  readonly toolsets?: ReadonlySet<Toolset>;
  readonly signal?: AbortSignal | undefined;
  /** Ids that the client reports for itself and its turn. They are stored with the usage event, so that its logs can be matched with ours. */
  readonly correlation?: Record<string, string> | undefined;
  /** The caller's own trace, unless the exchange carries it. */
  readonly trace?: TraceContext | undefined;
  /** The features of the caller's client that the call can use while it is in progress. */
  readonly exchange?: Exchange | undefined;
}

/** A request for a resource or prompt of another server. `name` is the resource's server, or the prompt's published name. */
export interface RelayRequest extends CallRequest {
  readonly noun: 'resource' | 'prompt';
  readonly aside?: Aside;
  readonly server: string;
  readonly timeoutMs: number;
  /** A refusal from `work` that no approval could change. */
  readonly precheck?: () => Refusal | undefined;
  readonly work: (ctx: RelayContext) => Promise<Json>;
}

/** One call on its way through the pipe: the request, and what each step adds. The fields are in the order of the steps. */
export interface Call extends CallRequest {
  // Set at the start.
  readonly noun: CallKind;
  readonly aside?: Aside | undefined;
  readonly requestId: string;
  readonly scope: RequestScope;
  readonly started: number;
  /** The arguments without secrets, which may be stored. */
  readonly redactedArgs: unknown;
  readonly argsDigest: string | null;
  /** Counts the events that this call adds to the journal. */
  readonly growth: { events: number };
  /** Events that the next write of this call must include. */
  readonly trail: NewEvent[];

  // Set when the call enters its workspace.
  /** The workspace in which a call that changed nothing is journaled. It always exists. */
  journalIn: string;
  isNewWorkspace?: boolean;
  /** The token's quota is used up. For an essential call that is let through anyway, only its effects are journaled. */
  overQuota?: boolean;

  // Set on admission.
  exchange: Exchange | undefined;
  grant: { readonly id: string; readonly revision: number } | null;
  approval: string | null;
  /** The grant limits its uses. All rounds of this call count as one use. */
  counted: boolean;

  // Set while the call runs.
  /** The server that runs the call: `native`, or the name of an external server. Only gateway calls set it. */
  server?: string | undefined;
  /** Set once the session is known to belong to the caller. */
  session: string | null;
  /** Part of the call's work is committed and stays, even if the rest fails. */
  kept?: boolean;
  /** The state of the caller's work when the call failed. */
  circumstances?: Record<string, string> | undefined;
}

/**
 * The toolset of a path that serves only one toolset. Tools of other toolsets do not exist on that path, so the grant of this
 * toolset decides what a refusal may reveal.
 */
export const onlyToolset = ({ toolsets }: Pick<Call, 'toolsets'>): Toolset | undefined => (toolsets?.size === 1 ? [...toolsets][0] : undefined);

export interface CallAnswer {
  /** The id under which the journal and the log record the call. */
  readonly requestId: string;
  readonly reply: Reply<unknown>;
  readonly isError: boolean;
  /** The contract's documented response. */
  readonly body: Record<string, unknown>;
  /** The body is a complete MCP tool result, including its content. */
  readonly isToolResult: boolean;
  /** The answer of another server, or a question to the caller's client. MCP passes it through unchanged. */
  readonly relayed?: { readonly result: Json } | { readonly error: RpcError };
}

/** One usage event per call. A warning or block also gets a feedback event, so that it can be looked up later. */
export function callRecords(call: Call, operation: string | undefined, reply: Reply<unknown>, outcome: string): NewEvent[] {
  const usage = usageEvent(call, operation, reply, outcome);
  if (reply.status !== 'warning' && reply.status !== 'blocked') return [usage];
  const payload = { type: reply.status === 'blocked' ? 'block' : 'warning', code: reply.code, message: reply.message, required_action: reply.next };
  return [usage, { ...usage, category: 'feedback', payload: { ...payload, request_id: call.requestId } }];
}

const KINDS: Record<CallKind, (name: string) => string> = {
  tool: (name) => name,
  action: (name) => name,
  resource: () => 'resource.read',
  prompt: () => 'prompt.get',
};

function usageEvent(call: Call, operation: string | undefined, reply: Reply<unknown>, outcome: string): NewEvent {
  const kind = call.aside ? `${call.noun}.${call.aside}` : KINDS[call.noun](call.name);
  return {
    category: 'usage',
    kind: operation ? `${kind}.${operation}` : kind,
    actor: call.principal.actor,
    subject: `${call.noun}:${call.name}`,
    session: call.session,
    // Keys are in canonical JSON order, which makes serialization fast.
    payload: {
      approval_id: call.approval ?? undefined,
      arguments_sha256: call.argsDigest,
      circumstances: call.circumstances,
      code: reply.status === 'ok' ? undefined : reply.code,
      correlation: call.correlation,
      duration_ms: Math.round((performance.now() - call.started) * 10) / 10,
      grant: call.grant,
      outcome,
      request_id: call.requestId,
      server: call.server,
      surface: call.surface,
      token_id: call.principal.tokenId,
      // A warning or block is described by its feedback event.
      told: reply.status === 'error' && !ECHOES.has(reply.code) ? refusalExcerpt(reply) : undefined,
    },
  };
}

const TOLD_BYTES = 600;

/** Messages with these codes repeat arguments or a person's text, which the journal must not store. */
const ECHOES = new Set(['INVALID_INPUT', 'APPROVAL_REFUSED']);

/** The refusal as the caller read it, because people later ask why an agent stopped. */
const refusalExcerpt = ({ message, next }: Refused<unknown>) => ({ message: excerpt(message, TOLD_BYTES), required_action: excerpt(next, TOLD_BYTES) });

export function argumentsDigest(args: unknown): string | null {
  try {
    return hash('sha256', canonicalJson(args ?? {}));
  } catch {
    // Not canonical JSON (a lone surrogate, unbounded nesting). The parser refuses it and names the field.
    return null;
  }
}

const timedOut = (ms: number) =>
  new Refusal(
    'TOOL_TIMEOUT',
    `The call took longer than ${ms} ms.`,
    'Its work may be done already. Check whether the change was made, and call again only if it is missing.',
  );
const shuttingDown = () =>
  new Refusal('SHUTTING_DOWN', 'The server is shutting down.', 'When it is back, check whether the change was made, and call again only if it is missing.');
const callerGone = () => new Refusal('CALLER_GONE', 'The caller disconnected before its call could run.', 'Call again.');

/** The deadline is paused while a person is asked during a call, for at most this long in total. */
const ASKING_MS = 5 * 60_000;

/** Limits how long a call may take. Its signal aborts with the refusal that the call is answered with. */
export class Deadline implements Disposable {
  /** Created on demand: most calls end before anyone reads the signal. */
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
  /** Set when the time is up or the server stops. Work raced after that is rejected immediately. */
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
    // An abort that happened before the listener was added fires no event.
    if (caller?.aborted) this.#onCallerGone();
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#refusal) this.#controller.abort(this.#refusal);
    return this.#controller.signal;
  }

  /** Returns the result of the work, or throws the refusal once the time is up. Work continues if only the caller disconnects. */
  async race<T>(work: Promise<T>): Promise<T> {
    const expired = new Promise<never>((_, reject) => {
      this.#giveUp = reject;
      if (this.#over) reject(this.#over);
    });
    return await Promise.race([work, expired]);
  }

  /** Pauses the deadline, up to the allowance, while the caller is asked something. */
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
    // The call has ended, so nothing is left to time.
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

/** The same exchange, but its questions pause the deadline, because a person may take long to answer. */
export function pauseDeadlineWhileAsking(exchange: Exchange, deadline: Deadline): Exchange {
  const { ask } = exchange;
  return ask ? { ...exchange, ask: (...question) => deadline.asking(() => ask(...question)) } : exchange;
}
