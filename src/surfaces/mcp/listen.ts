import { createMcpHandler, type McpHttpHandler, type ServerEvent, type ServerEventBus } from '@modelcontextprotocol/server';
import { recordIn } from '../../wire/json.ts';
import { asAuthInfo, type McpCaller } from './caller.ts';
import type { ChangeFeed, ListKind } from './change-feed.ts';
import { type McpServices, serverFor } from './server.ts';
import { MAX_OPEN, MAX_OPEN_PER_TOKEN } from './sessions.ts';
import { MAX_SUBSCRIPTIONS, Subscriptions } from './subscriptions.ts';

const CHECK_MS = 15_000;

const EVENTS: Record<ListKind, ServerEvent> = {
  tools: { kind: 'tools_list_changed' },
  prompts: { kind: 'prompts_list_changed' },
  resources: { kind: 'resources_list_changed' },
};

interface Stream {
  readonly caller: McpCaller;
  end(): Promise<void>;
}

/** Serves `subscriptions/listen` of the newer revision. The response stays open and delivers notifications of changes. */
export class ListenStreams {
  readonly #services: McpServices;
  readonly #feed: ChangeFeed;
  readonly #streams = new Set<Stream>();
  readonly #stopChecking: () => void;

  constructor(services: McpServices, feed: ChangeFeed) {
    this.#services = services;
    this.#feed = feed;
    this.#stopChecking = services.app.clock.every(CHECK_MS, () => {
      for (const stream of this.#streams) void this.#endIfRevoked(stream).catch(() => {});
    });
  }

  /** Opens a stream. Each stream has its own handler, because the event bus of the SDK does not distinguish its listeners. */
  async serve(request: Request, body: Record<string, unknown>, caller: McpCaller): Promise<Response> {
    const { app, relays } = this.#services;
    const listeners = new Set<(event: ServerEvent) => void>();
    const publish = (event: ServerEvent) => {
      for (const listener of listeners) listener(event);
    };
    const subscriptions = new Subscriptions(app, relays, (uri) => publish({ kind: 'resource_updated', uri }));
    const stream: Stream = { caller, end: () => handler.close() };
    const over = () => {
      this.#streams.delete(stream);
      stopListening();
      subscriptions.close();
    };
    const bus: ServerEventBus = {
      publish,
      subscribe(listener) {
        listeners.add(listener);
        return over;
      },
    };
    const handler: McpHttpHandler = createMcpHandler(() => serverFor(this.#services, { caller, era: 'modern' }), {
      legacy: 'reject',
      bus,
      maxSubscriptions: this.#hasRoom(caller) ? 1 : 0,
    });
    const stopListening = this.#feed.listen({
      caller,
      listsChanged: (kinds) => {
        for (const kind of kinds) publish(EVENTS[kind]);
      },
      resourcesUpdated: (updates) => void subscriptions.updated(updates, caller).catch(() => {}),
      accessChanged: () => void this.#endIfRevoked(stream).catch(() => {}),
    });
    this.#streams.add(stream);
    try {
      const readable = await this.#readable(body, subscriptions, caller, request.signal);
      return await handler.fetch(request, { parsedBody: readable, authInfo: asAuthInfo(caller) });
    } finally {
      // If there are no listeners, the SDK has refused the request, or the caller can read none of its resources.
      if (listeners.size === 0) over();
    }
  }

  async close(): Promise<void> {
    this.#stopChecking();
    await Promise.all([...this.#streams].map((stream) => stream.end()));
  }

  #hasRoom({ principal }: McpCaller): boolean {
    const own = [...this.#streams].filter(({ caller }) => caller.principal.tokenId === principal.tokenId).length;
    return own < MAX_OPEN_PER_TOKEN && this.#streams.size < MAX_OPEN;
  }

  /** Checks each resource in the request. Removes the resources that the caller may not read, as if they did not exist. */
  async #readable(body: Record<string, unknown>, subscriptions: Subscriptions, caller: McpCaller, signal: AbortSignal): Promise<unknown> {
    const params = recordIn(body.params);
    const filter = recordIn(params.notifications);
    const uris = filter.resourceSubscriptions;
    if (!Array.isArray(uris) || !caller.toolsets.has('gateway')) return body;
    const kept: string[] = [];
    // The number of resources is limited, because each one needs a separate call.
    for (const uri of new Set(uris.slice(0, MAX_SUBSCRIPTIONS))) {
      if (typeof uri !== 'string') return body;
      if (await subscriptions.add(uri, { caller, signal }).catch(() => false)) kept.push(uri);
    }
    return { ...body, params: { ...params, notifications: { ...filter, resourceSubscriptions: kept } } };
  }

  async #endIfRevoked(stream: Stream): Promise<void> {
    if (!(await stream.caller.isCurrent())) await stream.end();
  }
}
