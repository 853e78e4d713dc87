import { CLIENT_CAPABILITIES_META_KEY, type Client, LOG_LEVEL_META_KEY, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import { isRecord } from '../../../kernel/registry.ts';
import type { Exchange, Json } from '../../../kernel/relay.ts';
import { currentTrace, withSpan } from '../../../kernel/trace.ts';
import type { ServerEntry } from './entry.ts';
import { errorLine, rpcErrorOf } from './failures.ts';
import { exitReason, NO_TIMEOUT_MS, shakeHands, type UpstreamTransport } from './handshake.ts';
import { listAll } from './listing.ts';
import { isTooDeep, MAX_LEVELS } from './nesting.ts';
import { Notices } from './notices.ts';
import { type PendingCall, PendingCalls } from './pending-calls.ts';
import { invalidAnswerRefusal, tooDeepRefusal } from './refusals.ts';
import type { ServerListing } from './store.ts';

export interface ConnectionOptions {
  readonly entry: ServerEntry;
  readonly version: string;
  readonly transport: () => UpstreamTransport;
  readonly clock: Clock;
  readonly log: Log;
  /** If it is aborted, the attempt to connect ends. */
  readonly signal: AbortSignal;
  readonly on: {
    /** The server's list of tools, prompts or resources has changed. */
    readonly listsChanged: () => void;
    readonly resourceUpdated: (uri: string) => void;
    /** The connection ended although Covenant did not close it. Called only once. */
    readonly lost: (problem: string) => void;
  };
}

/** A server that seems dead must respond within this time. */
const SIGN_OF_LIFE_MS = 5_000;
const SUBSCRIBE_MS = 10_000;

/** A schema that accepts every object. The schemas of the SDK would remove unknown fields from results. */
const ANY_OBJECT: StandardSchemaV1<unknown, Json> = {
  '~standard': {
    version: 1,
    vendor: 'covenant',
    validate: (value) => (isRecord(value) ? { value } : { issues: [{ message: 'not an object' }] }),
  },
};

/** One connection to one server, from its handshake to its end. */
export class UpstreamConnection {
  readonly server: string;
  readonly pendingCalls: PendingCalls;
  readonly notices: Notices;
  readonly #client: Client;
  readonly #transport: UpstreamTransport;
  readonly #o: ConnectionOptions;
  #level: string | undefined;
  #closing = false;
  #checking = false;

  static async open(options: ConnectionOptions): Promise<UpstreamConnection> {
    const pendingCalls = new PendingCalls(() => options.clock.now());
    let connection: UpstreamConnection | undefined;
    const prepare = (client: Client) => {
      client.fallbackRequestHandler = (request, ctx) => pendingCalls.ask(request.method, request.params ?? {}, ctx.mcpReq.signal);
      client.fallbackNotificationHandler = async ({ method, params }) => {
        if (connection) connection.#handleNotification(method, params ?? {});
      };
      client.onerror = (error) => {
        if (connection) connection.#handleTrouble(error);
      };
    };
    const { client, transport } = await shakeHands({ ...options, prepare });
    connection = new UpstreamConnection(options, client, transport, pendingCalls);
    return connection;
  }

  private constructor(options: ConnectionOptions, client: Client, transport: UpstreamTransport, pendingCalls: PendingCalls) {
    this.#o = options;
    this.#client = client;
    this.#transport = transport;
    this.server = options.entry.name;
    this.pendingCalls = pendingCalls;
    this.notices = new Notices({
      client,
      clock: options.clock,
      ackTimeoutMs: SUBSCRIBE_MS,
      missed: options.on.listsChanged,
      broken: (error) => this.#handleTrouble(error),
    });
    client.onclose = () => this.#lose(this.endedBecause ?? 'It closed the connection.');
  }

  get modern(): boolean {
    return this.#client.getProtocolEra() === 'modern';
  }

  get pid(): number | null {
    return this.#transport.pid ?? null;
  }

  /** A sentence that says why a child process exited. Undefined while it is running. */
  get endedBecause(): string | undefined {
    return exitReason(this.#transport);
  }

  get protocolVersion(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? 'unknown';
  }

  get capabilities(): Json {
    return (this.#client.getServerCapabilities() ?? {}) as Json;
  }

  list(signal: AbortSignal): Promise<ServerListing> {
    const ask = (method: string, params?: Json) =>
      this.#client.request({ method, ...(params ? { params } : {}) }, ANY_OBJECT, { signal, timeout: NO_TIMEOUT_MS });
    const serverInfo = (this.#client.getServerVersion() ?? null) as Json | null;
    return listAll(ask, { protocolVersion: this.protocolVersion, capabilities: this.capabilities, serverInfo });
  }

  /** Sends a request of a caller to the server. `schema` is the input schema of the called tool. */
  request(method: string, params: Json, pending: PendingCall, schema?: Json): Promise<Json> {
    const target = method === 'tools/call' || method === 'prompts/get' ? String(params.name) : undefined;
    const attributes = { 'mcp.method.name': method, 'gen_ai.tool.name': method === 'tools/call' ? target : undefined, 'covenant.server': this.server };
    return withSpan(target === undefined ? method : `${method} ${target}`, 'client', attributes, () => this.#request(method, params, pending, schema));
  }

  async #request(method: string, params: Json, pending: PendingCall, schema: Json | undefined): Promise<Json> {
    const { exchange, signal } = pending;
    if (isTooDeep(params)) throw tooDeepRefusal();
    if (exchange?.log && !this.modern) await this.#setLogLevel();
    const meta = metaFor(exchange, this.modern);
    const rounds = this.modern ? definedOf(exchange?.rounds) : {};
    const body = { ...params, ...rounds, ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}) };
    const options = {
      signal,
      timeout: NO_TIMEOUT_MS,
      allowInputRequired: true,
      ...(exchange?.progress ? { onprogress: (progress: Json) => pending.exchange?.progress?.(progress) } : {}),
    } as const;
    const result =
      schema && this.#mirrors(schema)
        ? await this.#callWithHeaders(body, schema, options)
        : await this.#client.request({ method, params: body }, ANY_OBJECT, options);
    if (isTooDeep(result)) throw invalidAnswerRefusal(this.server, `it is nested deeper than ${MAX_LEVELS} levels.`);
    return method === 'tools/call' ? toolResult(this.server, result) : result;
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.notices.end();
    await this.#client.close().catch((error) => this.#o.log.debug('upstream not closed well', { server: this.server, error: errorLine(error) }));
    // If the transport ended by itself, the client no longer closes it. It is closed here, because its processes may still exist.
    await this.#transport.close().catch(() => {});
  }

  /** Whether arguments must also be sent as headers. HTTP servers with the newer revision can require this for marked arguments. */
  #mirrors(schema: Json): boolean {
    return this.modern && this.#o.entry.transport.kind === 'http' && JSON.stringify(schema).includes('"x-mcp-header"');
  }

  async #callWithHeaders(body: Json, inputSchema: Json, options: object): Promise<Json> {
    const params = body as { name: string };
    const toolDefinition = { name: params.name, inputSchema: inputSchema as { type: 'object' } };
    return (await this.#client.callTool(params, { ...options, toolDefinition })) as Json;
  }

  /** Sets the log level for all callers together, because servers with the older revision have only one. */
  async #setLogLevel(): Promise<void> {
    const level = this.pendingCalls.wantedLevel();
    if (!this.capabilities.logging || level === undefined || level === this.#level) return;
    this.#level = level;
    await this.#client
      .request({ method: 'logging/setLevel', params: { level } }, ANY_OBJECT, { timeout: SUBSCRIBE_MS })
      .catch((error) => this.#handleTrouble(error));
  }

  #handleNotification(method: string, params: Json): void {
    if (method === 'notifications/message') this.pendingCalls.log(params);
    else if (method === 'notifications/resources/updated' && typeof params.uri === 'string') this.#o.on.resourceUpdated(params.uri);
    else if (/^notifications\/(tools|prompts|resources)\/list_changed$/.test(method)) this.#o.on.listsChanged();
  }

  /** Logs an error. Most are harmless, but over HTTP a broken stream may be the only sign that a server is gone, so the server is then checked. */
  #handleTrouble(error: unknown): void {
    // The errors of the SDK contain whole messages. They are cut off, because they must not get into the log.
    this.#o.log.debug('upstream trouble', { server: this.server, error: errorLine(error).replace(/[:,]? ?[{[].*$/, '') });
    if (this.#o.entry.transport.kind !== 'http' || this.#checking || this.#closing) return;
    if (!/^(SSE stream disconnected|Maximum reconnection|fetch failed|Connection closed)/.test(errorLine(error))) return;
    this.#checking = true;
    this.#isAlive().then((alive) => {
      this.#checking = false;
      if (!alive) this.#lose(`It cannot be reached: ${errorLine(error)}.`);
    });
  }

  async #isAlive(): Promise<boolean> {
    try {
      await (this.modern ? this.#client.discover({ timeout: SIGN_OF_LIFE_MS }) : this.#client.ping({ timeout: SIGN_OF_LIFE_MS }));
      return true;
    } catch (error) {
      return rpcErrorOf(error) !== undefined;
    }
  }

  #lose(problem: string): void {
    if (this.#closing) return;
    this.#closing = true;
    this.notices.end();
    this.#o.on.lost(problem);
  }
}

/** Builds the `_meta` of a request. The caller's trace context is included, but not the keys that concern only the caller's own connection. */
function metaFor(exchange: Exchange | undefined, modern: boolean): Json {
  const passed = Object.entries(exchange?.meta ?? {}).filter(([key]) => key !== 'progressToken' && !key.startsWith('io.modelcontextprotocol/'));
  const meta: Json = Object.fromEntries(passed);
  const trace = currentTrace();
  if (trace) {
    // Covenant's span belongs to the caller's trace, if there is one. The span of the external server belongs to Covenant's span.
    meta.traceparent = trace.traceparent;
    if (trace.tracestate === undefined) delete meta.tracestate;
    else meta.tracestate = trace.tracestate;
  }
  if (!modern) return meta;
  meta[CLIENT_CAPABILITIES_META_KEY] = exchange?.capabilities ?? {};
  if (exchange?.log) meta[LOG_LEVEL_META_KEY] = exchange.log.level;
  return meta;
}

function definedOf(rounds: Exchange['rounds']): Json {
  const { inputResponses, requestState } = rounds ?? {};
  return { ...(inputResponses === undefined ? {} : { inputResponses }), ...(requestState === undefined ? {} : { requestState }) };
}

function toolResult(server: string, result: Json): Json {
  if (result.resultType === 'input_required' || Array.isArray(result.content)) return result;
  if (result.content === undefined && result.structuredContent !== undefined) return { ...result, content: [] };
  throw invalidAnswerRefusal(server, 'the result has no content.');
}
