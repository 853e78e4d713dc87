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

/** A client of the older revisions with a session. It can get questions and notifications. */
export interface LegacyClient {
  readonly capabilities: Json;
  /** The lowest level of log messages that the client wants. */
  readonly logLevel: LoggingLevel;
}

const TRACE_KEYS = [TRACEPARENT_META_KEY, TRACESTATE_META_KEY, BAGGAGE_META_KEY];
/** The limit of characters in the notifications of one call. It bounds memory, because the server stores notifications that the client has not read. */
const MAX_SENT = 16 * 1024 * 1024;
const LEAST_COUNTED = 256;
/** The time limit for the answer to a question. Long, because a person may have to answer. */
const ANSWER_MS = 600_000;

/** What the client of this request supports during the call. Clients of the older revisions without a session support nothing. */
export function exchangeOf(ctx: ServerContext, era: 'legacy' | 'modern', session: LegacyClient | undefined): Exchange {
  const { mcpReq } = ctx;
  const envelope = (mcpReq.envelope ?? {}) as Record<string, unknown>;
  const capabilities = (era === 'modern' ? envelope[CLIENT_CAPABILITIES_META_KEY] : session?.capabilities) as Json | undefined;
  const level = (era === 'modern' ? envelope[LOG_LEVEL_META_KEY] : session?.logLevel) as LoggingLevel | undefined;
  const progressToken = mcpReq._meta?.progressToken;
  let sent = 0;
  const notify = (notification: Notification) => {
    sent += Math.max(JSON.stringify(notification).length, LEAST_COUNTED);
    // A notification fails after the answer or if the client has disconnected. Neither is an error.
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

/** `_meta` takes precedence over headers, because it describes this request and headers describe the connection. Baggage in a header is not passed on. */
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
