import { randomBytes } from 'node:crypto';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  ProtocolErrorCode,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { asAuthInfo, bindingOf, type McpCaller } from './caller.ts';
import type { ChangeFeed, ListKind } from './change-feed.ts';
import { type McpServices, type SessionPart, serverFor } from './server.ts';
import { MemoryBudget, StreamMemory } from './stream-memory.ts';
import { Subscriptions } from './subscriptions.ts';

/**
 * The maximum number of sessions, and also the maximum number of `subscriptions/listen`
 * streams. A limit is needed, because agents restart often and many never end their session.
 */
export const MAX_OPEN_PER_TOKEN = 32;
export const MAX_OPEN = 1_024;
/** A session without a request and without an open stream ends after this time. */
export const IDLE_MS = 30 * 60_000;
/** If the connection of a call breaks, the client can reconnect within this time and still get its answer. */
export const LINGER_MS = 30_000;
const SWEEP_MS = 15_000;
const RETRY_MS = 1_000;
const REMEMBERED = 64 * 1024 * 1024;

interface Session extends SessionPart {
  readonly id: string;
  readonly binding: string;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly memory: StreamMemory;
  /** The caller of the last request. */
  caller: McpCaller;
  lastSeen: number;
  /** The number of streams that the client has open. */
  streams: number;
  /** The requests whose connection broke before they were answered, each with the time of the break. */
  readonly broken: Map<RequestId, number>;
  stopListening(): void;
}

/**
 * Manages the sessions of clients that use an older protocol revision. A session
 * begins with `initialize`. It is bound to this process, its token and its path.
 */
export class Sessions {
  readonly #services: McpServices;
  readonly #feed: ChangeFeed;
  readonly #sessions = new Map<string, Session>();
  readonly #budget = new MemoryBudget(REMEMBERED);
  readonly #stopSweeping: () => void;

  constructor(services: McpServices, feed: ChangeFeed) {
    this.#services = services;
    this.#feed = feed;
    this.#stopSweeping = services.app.clock.every(
      SWEEP_MS,
      () => void this.#sweep().catch((error) => services.app.log.error('the sweep of MCP sessions failed', { error })),
    );
  }

  /** Opens a session. If there is no room, returns undefined, and the client is then served without a session. */
  async open(request: Request, body: unknown, caller: McpCaller): Promise<Response | undefined> {
    if (!this.#makeRoom(caller.principal.tokenId)) return undefined;
    const session = await this.#make(caller);
    try {
      return await session.transport.handleRequest(request, { parsedBody: body, authInfo: asAuthInfo(caller) });
    } finally {
      if (!this.#sessions.has(session.id)) await this.#end(session);
    }
  }

  /** Answers a request in a session. Returns undefined if this caller has no such session on this path. */
  async serve(id: string, request: Request, body: unknown, caller: McpCaller): Promise<Response | undefined> {
    const session = this.#sessions.get(id);
    if (session?.binding !== bindingOf(caller)) return undefined;
    session.caller = caller;
    session.lastSeen = this.#now();
    if (request.method === 'POST') this.#noticeBreak(session, request, body);
    const response = await session.transport.handleRequest(request, { parsedBody: body, authInfo: asAuthInfo(caller) });
    if (response.ok) for (const requestId of cancelledBy(body)) endCancelled(session, requestId);
    return request.method === 'GET' && response.ok ? this.#listened(session, response) : response;
  }

  async close(): Promise<void> {
    this.#stopSweeping();
    await Promise.all([...this.#sessions.values()].map((session) => this.#end(session)));
  }

  #now(): number {
    return this.#services.app.clock.now();
  }

  async #make(caller: McpCaller): Promise<Session> {
    const { app, relays } = this.#services;
    const id = randomBytes(32).toString('base64url');
    const memory = new StreamMemory(this.#budget);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: memory,
      retryInterval: RETRY_MS,
      onsessioninitialized: () => void this.#sessions.set(id, session),
      onsessionclosed: () => this.#end(session),
    });
    const subscriptions = new Subscriptions(app, relays, (uri) => quietly(server.sendResourceUpdated({ uri })));
    const part: SessionPart = { logLevel: 'info', subscriptions, busy: 0 };
    const server = serverFor(this.#services, { caller, era: 'legacy', session: part });
    const session: Session = Object.assign(part, {
      id,
      binding: bindingOf(caller),
      server,
      transport,
      memory,
      caller,
      lastSeen: this.#now(),
      streams: 0,
      broken: new Map<RequestId, number>(),
      stopListening: this.#feed.listen({
        caller,
        listsChanged: (kinds) => announce(server, kinds),
        resourcesUpdated: (updates) => quietly(subscriptions.updated(updates, session.caller)),
        accessChanged: () => quietly(this.#endIfRevoked(session)),
      }),
    });
    await server.connect(transport);
    return session;
  }

  #listened(session: Session, response: Response): Response {
    session.streams++;
    session.broken.clear();
    return whenOver(response, () => {
      session.streams--;
      session.lastSeen = this.#now();
    });
  }

  /** Records when the connection of a call breaks. In the older revisions this does not cancel the call, because the client may reconnect to get the answer. */
  #noticeBreak(session: Session, request: Request, body: unknown): void {
    const ids = (Array.isArray(body) ? body : [body]).flatMap((message) => (isJSONRPCRequest(message) ? [message.id] : []));
    if (ids.length === 0) return;
    request.signal.addEventListener('abort', () => {
      for (const id of ids) session.broken.set(id, this.#now());
    });
  }

  async #sweep(): Promise<void> {
    for (const session of [...this.#sessions.values()]) {
      this.#cancelBroken(session);
      const isIdle = session.streams === 0 && session.busy === 0 && this.#now() - session.lastSeen > IDLE_MS;
      await (isIdle ? this.#end(session) : this.#endIfRevoked(session));
    }
  }

  #cancelBroken(session: Session): void {
    for (const [requestId, since] of session.broken) {
      if (this.#now() - since <= LINGER_MS) continue;
      session.broken.delete(requestId);
      session.transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'the client disconnected' } });
      endCancelled(session, requestId);
    }
  }

  async #endIfRevoked(session: Session): Promise<void> {
    if (!(await session.caller.isCurrent())) await this.#end(session);
  }

  /** If the limit is reached, ends the session that has been idle longest. Returns false if all sessions are in use. */
  #makeRoom(tokenId: string): boolean {
    const own = [...this.#sessions.values()].filter(({ caller }) => caller.principal.tokenId === tokenId);
    const full = own.length >= MAX_OPEN_PER_TOKEN ? own : this.#sessions.size >= MAX_OPEN ? [...this.#sessions.values()] : [];
    if (full.length === 0) return true;
    const [oldest] = full.filter(({ streams, busy }) => streams === 0 && busy === 0).sort((a, b) => a.lastSeen - b.lastSeen);
    if (oldest) void this.#end(oldest);
    return oldest !== undefined;
  }

  async #end(session: Session): Promise<void> {
    this.#sessions.delete(session.id);
    session.stopListening();
    session.subscriptions.close();
    await session.server.close();
    session.memory.close();
  }
}

function cancelledBy(body: unknown): RequestId[] {
  const notices = (Array.isArray(body) ? body : [body]).filter((message) => isJSONRPCNotification(message) && message.method === 'notifications/cancelled');
  return notices.map(({ params }) => params?.requestId).filter((id) => id !== undefined);
}

/**
 * Answers a cancelled request, because the SDK does not answer it. Without an answer,
 * the connection and the memory of the request would stay until the session ends.
 */
function endCancelled({ transport }: Session, id: RequestId): void {
  quietly(transport.send({ jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InternalError, message: 'The request was cancelled.' } }));
}

/** Calls `over` once, as soon as either side has ended the response. */
function whenOver(response: Response, over: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) return response;
  let open = true;
  const end = () => {
    if (open) over();
    open = false;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      end();
      controller.close();
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

function announce(server: Server, kinds: ReadonlySet<ListKind>): void {
  const { prompts, resources } = server.getCapabilities();
  if (kinds.has('tools')) quietly(server.sendToolListChanged());
  if (kinds.has('prompts') && prompts) quietly(server.sendPromptListChanged());
  if (kinds.has('resources') && resources?.listChanged) quietly(server.sendResourceListChanged());
}

/** Ignores errors when a notification is sent. A client that missed a notification reads the list again when it reconnects. */
const quietly = (work: Promise<unknown>): void => void work.catch(() => {});
