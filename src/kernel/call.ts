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

/** The authenticated caller. Only authentication creates a principal, and no input of a call can change it. */
export interface Principal {
  readonly kind: PrincipalKind;
  readonly workspace: string;
  readonly tokenId: string;
  readonly developerId: string | null;
  readonly developerName: string | null;
  readonly agentType: string | null;
  readonly instanceId: string | null;
  /** True if the caller signed in with the dashboard's cookie instead of a token. */
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

/**
 * The folder, repository and branch in which a caller works, as its bridge or CLI reports them. The server uses them as defaults
 * for omitted fields. They grant no permission.
 */
export interface CallerPlace {
  /** An absolute path on the caller's machine. */
  readonly folder: string;
  /** The address of the git remote without credentials, or the folder's name if there is no remote. Null outside a repository. */
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
  /** The agent session that the call names in `session_id`, if it belongs to the caller. The events of the call are linked to it. */
  readonly session: string | null;
  /** The absolute path of the caller's repository on the caller's machine, as its bridge or CLI reports it. */
  readonly repository: string | null;
  /** The caller's folder, repository and branch. Null if the caller did not report them. */
  readonly place: CallerPlace | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Reads committed state only. */
  readonly reader: Db;
  /** Aborts when the call takes too long or the caller disconnects. */
  readonly signal: AbortSignal;
  write<T>(callback: WriteCallback<T>): Promise<T>;
  /** Like `write`, but also runs after the deadline of the call, because changes outside the store must be recorded even then. */
  settle<T>(callback: WriteCallback<T>): Promise<T>;
}

/** Inside a transaction a handler has only `tx`, because a second write would wait forever for the first one to end. */
export type WriteContext = Omit<CallContext, 'write' | 'settle' | 'reader'>;

/** Appends an event whose actor is this caller, linked to the session that the call named. */
export function record(tx: Tx, ctx: WriteContext, event: Omit<NewEvent, 'actor'>): number {
  return tx.append({ session: ctx.session, ...event, actor: ctx.principal.actor });
}

/** Returned by a handler's transaction if work outside the store remains to be done after it. */
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
  /** The path of the repository in which the caller's bridge or CLI runs, as reported by the caller. */
  readonly repository?: string | undefined;
  readonly place?: CallerPlace | undefined;
  /** The toolsets that are served on the caller's URL path, such as `/mcp/team`. Undefined: all toolsets. */
  readonly toolsets?: ReadonlySet<Toolset>;
  readonly signal?: AbortSignal | undefined;
  /**
   * Ids that the client reports for itself and its turn. They are stored with the usage event, so that the client's logs can be
   * matched with the journal.
   */
  readonly correlation?: Record<string, string> | undefined;
  /** The caller's trace context, unless it is part of `exchange`. */
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
  /** Returns the refusal that `work` would return in any case, so that no person is asked to approve such a call. */
  readonly precheck?: () => Refusal | undefined;
  readonly work: (ctx: RelayContext) => Promise<Json>;
}

/** The state of one call: the request, and the fields that each processing step adds, in the order of the steps. */
export interface Call extends CallRequest {
  // Set at the start.
  readonly noun: CallKind;
  readonly aside?: Aside | undefined;
  readonly requestId: string;
  readonly scope: RequestScope;
  readonly started: number;
  /** The arguments without their secrets. Only this version may be stored. */
  readonly redactedArgs: unknown;
  readonly argsDigest: string | null;
  /** Counts the events that this call adds to the journal. */
  readonly growth: { events: number };
  /** Events of this call that are not stored yet. The next write of the call must include them. */
  readonly trail: NewEvent[];

  // Set when the call enters its workspace.
  /** The workspace whose journal records a call that changed nothing. It always exists, even if the call names a workspace that does not. */
  journalIn: string;
  isNewWorkspace?: boolean;
  /** True if the token has used up its journal quota. Essential calls still run then, but failed ones are only counted and not journaled. */
  overQuota?: boolean;

  // Set on admission.
  exchange: Exchange | undefined;
  grant: { readonly id: string; readonly revision: number } | null;
  approval: string | null;
  /** True once a use of the grant is counted for this call. All rounds of a call count as one use. */
  counted: boolean;

  // Set while the call runs.
  /** The server that runs the call: `native`, or the name of an external server. Only gateway calls set it. */
  server?: string | undefined;
  /** Set after the server has checked that the session belongs to the caller. */
  session: string | null;
  /** True once a part of the call's work is committed, or may be. That part stays, even if the rest fails. */
  kept?: boolean;
  /** The state of the caller's work when the call failed. */
  circumstances?: Record<string, string> | undefined;
}

/**
 * Returns the toolset if the caller's path serves only one. Tools of other toolsets do not exist on such a path, so the grant of
 * this toolset decides what a refusal may reveal.
 */
export const onlyToolset = ({ toolsets }: Pick<Call, 'toolsets'>): Toolset | undefined => (toolsets?.size === 1 ? [...toolsets][0] : undefined);

export interface CallAnswer {
  /** The id under which the journal and the log record the call. */
  readonly requestId: string;
  readonly reply: Reply<unknown>;
  readonly isError: boolean;
  /** The response in the format that the contract documents. */
  readonly body: Record<string, unknown>;
  /** True if `body` is a complete MCP tool result, including its content. */
  readonly isToolResult: boolean;
  /** The answer of another server, or a question to the caller's client. MCP passes it through unchanged. */
  readonly relayed?: { readonly result: Json } | { readonly error: RpcError };
}

/**
 * Returns the events that record a call: one usage event, and for a warning or block also a feedback event with its message, so
 * that people can look it up later.
 */
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
      // Not set for a warning or block, because its feedback event contains the message.
      told: reply.status === 'error' && !ECHOES.has(reply.code) ? refusalExcerpt(reply) : undefined,
    },
  };
}

const TOLD_BYTES = 600;

/** Messages with these codes repeat arguments or a person's text, which the journal must not store. */
const ECHOES = new Set(['INVALID_INPUT', 'APPROVAL_REFUSED']);

/** The message that the caller received. It is stored because people later want to know why an agent stopped. */
const refusalExcerpt = ({ message, next }: Refused<unknown>) => ({ message: excerpt(message, TOLD_BYTES), required_action: excerpt(next, TOLD_BYTES) });

export function argumentsDigest(args: unknown): string | null {
  try {
    return hash('sha256', canonicalJson(args ?? {}));
  } catch {
    // The arguments cannot be written as canonical JSON, for example because of a lone surrogate. The input parser will refuse
    // them and name the field.
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

/** Limits how long a call may take. When the time is up, `signal` aborts with the refusal that the caller receives. */
export class Deadline implements Disposable {
  /** Created on first use, because most calls end without reading the signal. */
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
  /** Set when the time is up or the server stops. Work that is passed to `race` after that is rejected immediately. */
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

/** Returns a copy of the exchange whose questions pause the deadline, because a person may take long to answer. */
export function pauseDeadlineWhileAsking(exchange: Exchange, deadline: Deadline): Exchange {
  const { ask } = exchange;
  return ask ? { ...exchange, ask: (...question) => deadline.asking(() => ask(...question)) } : exchange;
}
