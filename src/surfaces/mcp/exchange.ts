import {
  BAGGAGE_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type Notification,
  type ServerContext,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
} from '@modelcontextprotocol/server';
import { type ClientRequest, type Exchange, isLoud, type Json } from '../../kernel/relay.ts';
import { Refusal } from '../../kernel/reply.ts';

/** A client that uses an older protocol revision and has a session. The server can send it questions and notifications. */
export interface LegacyClient {
  readonly capabilities: Json;
  /** The lowest level of log messages that the client wants. */
  readonly logLevel: LoggingLevel;
}

const TRACE_KEYS = [TRACEPARENT_META_KEY, TRACESTATE_META_KEY, BAGGAGE_META_KEY];
/**
 * The maximum number of characters in the notifications of one call. Without this limit,
 * notifications that the client has not read could fill the memory of the server.
 */
const MAX_SENT = 16 * 1024 * 1024;
const LEAST_COUNTED = 256;
/** The time limit for the answer of a client to a question. It is long, because a person may have to answer. */
const ANSWER_MS = 600_000;

/** Returns what the server can send to the client during a call. A client of an older revision that has no session cannot be asked questions. */
export function exchangeOf(ctx: ServerContext, era: 'legacy' | 'modern', session: LegacyClient | undefined): Exchange {
  const { mcpReq } = ctx;
  const envelope = (mcpReq.envelope ?? {}) as Record<string, unknown>;
  const capabilities = (era === 'modern' ? envelope[CLIENT_CAPABILITIES_META_KEY] : session?.capabilities) as Json | undefined;
  const level = (era === 'modern' ? envelope[LOG_LEVEL_META_KEY] : session?.logLevel) as LoggingLevel | undefined;
  const progressToken = mcpReq._meta?.progressToken;
  let sent = 0;
  const notify = (notification: Notification) => {
    sent += Math.max(JSON.stringify(notification).length, LEAST_COUNTED);
    // Sending a notification fails if the call was answered or the client has disconnected. Neither is an error.
    if (sent <= MAX_SENT) mcpReq.notify(notification).catch(() => {});
  };
  return {
    capabilities: capabilities ?? {},
    ...(progressToken === undefined ? {} : { progress: (params) => notify({ method: 'notifications/progress', params: { ...params, progressToken } }) }),
    ...(level === undefined ? {} : { log: { level, send: (params) => isLoud(params.level, level) && notify({ method: 'notifications/message', params }) } }),
    ...(session ? { ask: asker(ctx, session.capabilities) } : {}),
    ...(era === 'modern' || session ? { rounds: { inputResponses: mcpReq.inputResponses, requestState: requestStateOf(ctx) } } : {}),
    meta: traceOf(ctx),
  };
}

/**
 * Returns the trace context of a request. `_meta` takes precedence over the headers, because it describes this request, and the headers describe the
 * connection. Baggage in a header is not passed on.
 */
function traceOf({ mcpReq: { _meta }, http }: ServerContext): Json {
  if (_meta?.[TRACEPARENT_META_KEY] !== undefined) return chosen(TRACE_KEYS, (key) => _meta[key]);
  const header = (key: string) => http?.req?.headers.get(key) ?? undefined;
  return { ...chosen([BAGGAGE_META_KEY], (key) => _meta?.[key]), ...chosen([TRACEPARENT_META_KEY, TRACESTATE_META_KEY], header) };
}

const chosen = (keys: readonly string[], read: (key: string) => unknown): Json =>
  Object.fromEntries(keys.flatMap((key) => (read(key) === undefined ? [] : [[key, read(key)]])));

function requestStateOf(ctx: ServerContext): string | undefined {
  const state = ctx.mcpReq.requestState<unknown>();
  return typeof state === 'string' ? state : undefined;
}

const NEEDED: Record<ClientRequest, string> = { 'elicitation/create': 'elicitation', 'sampling/createMessage': 'sampling', 'roots/list': 'roots' };

function asker(ctx: ServerContext, capabilities: Json): NonNullable<Exchange['ask']> {
  return async (method, params, signal) => {
    const needed = NEEDED[method];
    if (capabilities[needed] === undefined) {
      throw new Refusal(
        'INPUT_REQUIRED',
        `The external server requested ${method}, which this client does not support.`,
        `Call the tool from a client that declares the capability ${needed}.`,
      );
    }
    const either = AbortSignal.any([signal, ctx.mcpReq.signal]);
    return (await ctx.mcpReq.send({ method, params }, { signal: either, timeout: ANSWER_MS })) as Json;
  };
}
