import { AsyncLocalStorage } from 'node:async_hooks';
import { hash } from 'node:crypto';
import type { Store } from '../storage/open.ts';
import { newId } from '../storage/rows.ts';
import type { Call, CallRequest } from './call.ts';
import type { Toolset } from './contract.ts';
import type { Aside, CallKind } from './ports.ts';
import { Refusal, type Reply } from './reply.ts';

/**
 * The trace context that a caller sends. The field names are those of W3C Trace Context, both in HTTP headers and in the `_meta`
 * of an MCP request.
 */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

type SpanKind = 'server' | 'client' | 'internal';
/**
 * The attributes of a span. They contain only ids, codes and tool names, and never arguments, tokens or people's names, because
 * people who cannot read the journal may be able to read the collector.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A timed part of the work, as reported to a collector. */
export interface TraceSpan {
  readonly traceId: string;
  /** The trace context to send to another server, so that its spans become children of this span. */
  readonly context: TraceContext;
  child(name: string, kind: SpanKind, said?: SpanAttributes): TraceSpan;
  rename(name: string): void;
  say(said: SpanAttributes): void;
  fail(type: string): void;
  /** A span that is not ended is not reported. */
  end(): void;
}

export interface Tracer {
  begin(name: string, kind: SpanKind, from?: TraceContext): TraceSpan;
}

const LONGEST = 512;

/** Reads the trace context of a caller, or returns undefined if the caller sent none. The value is not validated here. */
export function traceContext(said: (key: 'traceparent' | 'tracestate') => unknown): TraceContext | undefined {
  const bounded = (value: unknown) => (typeof value === 'string' && value.length <= LONGEST ? value : undefined);
  const traceparent = bounded(said('traceparent'));
  return traceparent === undefined ? undefined : { traceparent, tracestate: bounded(said('tracestate')) };
}

/** The context of the innermost open span. */
export const currentTrace = (): TraceContext | undefined => currentScope()?.span?.context;

/** Runs the work in a span, or without one if no collector is configured. */
export function withSpan<T>(name: string, kind: SpanKind, said: SpanAttributes, work: () => Promise<T>): Promise<T> {
  const current = currentScope();
  if (!current?.span) return work();
  current.scope.parts++;
  const span = current.span.child(name, kind, said);
  return current.scope.within(span, work).then(
    (value) => {
      span.end();
      return value;
    },
    (error: unknown) => {
      span.fail(errorType(error));
      span.end();
      throw error;
    },
  );
}

/** The kind of the error. Its message is not reported, because it may quote the input. */
export function errorType(error: unknown): string {
  if (error instanceof Refusal) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/**
 * Wraps the store so that writes create spans. The store runs writes of several callers in one batch, so each callback is bound
 * to the scope of its own caller.
 */
export function tracedStore(store: Store): Store {
  const said = { 'db.system.name': store.kind === 'sqlite' ? 'sqlite' : 'postgresql' };
  return {
    ...store,
    write: (workspace, callback, signal) => withSpan('store.write', 'internal', said, () => store.write(workspace, AsyncLocalStorage.bind(callback), signal)),
    append: (workspace, events) => withSpan('store.append', 'internal', said, () => store.append(workspace, events)),
  };
}

/** The request that the running code works for, and the current part of it. */
interface ScopeAndSpan {
  readonly scope: RequestScope;
  /** The innermost open span; undefined if no collector is configured. */
  readonly span: TraceSpan | undefined;
}

const currentScopes = new AsyncLocalStorage<ScopeAndSpan>();

/**
 * One unit of work from start to end: a request, a call or one sweep run. All code that runs for it can look it up. Connections
 * and timers that outlive it no longer belong to it.
 */
export class RequestScope {
  readonly request: string | undefined;
  readonly span: TraceSpan | undefined;
  /** The number of spans that were started in this scope. */
  parts = 0;
  #isLent: boolean;
  #isOver = false;

  /** `lends`: if true, the first call in this scope gets the id of the request. */
  constructor({ request, span, lends = false }: { request?: string; span?: TraceSpan | undefined; lends?: boolean }) {
    this.request = request;
    this.span = span;
    this.#isLent = !lends;
  }

  run<T>(work: () => T): T {
    return currentScopes.run({ scope: this, span: this.span }, work);
  }

  /** Runs a part of this scope. */
  within<T>(span: TraceSpan, work: () => T): T {
    return currentScopes.run({ scope: this, span }, work);
  }

  borrow(): string | undefined {
    if (this.#isLent) return undefined;
    this.#isLent = true;
    return this.request;
  }

  end(): void {
    this.#isOver = true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }
}

function currentScope(): ScopeAndSpan | undefined {
  const current = currentScopes.getStore();
  return current && !current.scope.isOver ? current : undefined;
}

/** Returns the id for a new call. The first call of an HTTP request gets the id of that request, so that people can find both with one id. */
export const requestIdAt = (now: number): string => currentScope()?.scope.borrow() ?? newId('req', now);

/** The fields that identify all log lines of one request. */
export function requestFields(): { request?: string; trace_id?: string } {
  const { scope, span } = currentScope() ?? {};
  return { ...(scope?.request && { request: scope.request }), ...(span && { trace_id: span.traceId }) };
}

/** Names from OpenTelemetry's MCP conventions where they define one. */
const METHODS = { tool: 'tools/call', prompt: 'prompts/get', resource: 'resources/read' } as const;
const ASIDES: Record<Aside, string> = { complete: 'completion/complete', subscribe: 'resources/subscribe' };

/** The span gets the tool's name only once the tool is found, because callers can send any text as a name. */
export function beginCallSpan(
  tracer: Tracer | undefined,
  noun: CallKind,
  request: CallRequest & { readonly aside?: Aside | undefined },
): TraceSpan | undefined {
  if (!tracer) return undefined;
  const from = request.trace ?? traceContext((key) => request.exchange?.meta[key]);
  return tracer.begin(methodOf(noun, request.aside), 'server', from);
}

interface CallEnd {
  /** Whether the requested object exists: callers can send any text as its name. */
  readonly known: boolean;
  readonly toolset: Toolset | undefined;
  readonly outcome: string;
  readonly reply: Reply<unknown>;
}

export function recordCallSpan(span: TraceSpan, call: Call, { known, toolset, outcome, reply }: CallEnd): void {
  const { noun, aside, server, surface, requestId, principal } = call;
  const name = known ? call.name : undefined;
  const method = methodOf(noun, aside);
  // For a resource, `name` is only the name of its server.
  if (name !== undefined && noun !== 'resource') span.rename(`${method} ${name}`);
  span.say({
    'mcp.method.name': noun === 'action' ? undefined : method,
    'gen_ai.operation.name': noun === 'tool' ? 'execute_tool' : undefined,
    'gen_ai.tool.name': noun === 'tool' ? name : undefined,
    'gen_ai.prompt.name': noun === 'prompt' ? name : undefined,
    'covenant.action': noun === 'action' ? name : undefined,
    'covenant.toolset': toolset,
    'covenant.server': server,
    'covenant.surface': surface,
    'covenant.outcome': outcome,
    'covenant.request.id': requestId,
    'covenant.workspace.hash': hash('sha256', principal.workspace).slice(0, 12),
  });
  if (reply.status === 'error' || outcome === 'denied') span.fail(reply.status === 'ok' ? outcome : reply.code);
  else if (outcome === 'error_result') span.fail('tool_error');
}

const methodOf = (noun: CallKind, aside: Aside | undefined): string => (noun === 'action' ? 'action' : aside ? ASIDES[aside] : METHODS[noun]);
