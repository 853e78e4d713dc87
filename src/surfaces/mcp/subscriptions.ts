import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { App } from '../../main.ts';
import type { McpCaller } from './caller.ts';
import type { ResourceUpdate } from './change-feed.ts';
import type { Relays, ResourceWatch, Via } from './relays.ts';

export const MAX_SUBSCRIPTIONS = 100;

/** The resources to which one client has subscribed. A subscription begins with a call through the pipe, and ends with the session or stream of the client. */
export class Subscriptions {
  readonly #gate: App['gate'];
  readonly #upstreams: App['upstreams'];
  readonly #relays: Relays;
  readonly #send: (uri: string) => void;
  readonly #watched = new Map<string, ResourceWatch>();
  #beginning = 0;
  #closed = false;

  constructor(app: App, relays: Relays, send: (uri: string) => void) {
    this.#gate = app.gate;
    this.#upstreams = app.upstreams;
    this.#relays = relays;
    this.#send = send;
  }

  /** Subscribes to a resource. Resolves to false if the caller may not read it. */
  async add(uri: string, via: Via): Promise<boolean> {
    if (this.#watched.has(uri)) return true;
    if (this.#watched.size + this.#beginning >= MAX_SUBSCRIPTIONS) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `A client can subscribe to at most ${MAX_SUBSCRIPTIONS} resources. Call resources/unsubscribe for one that you do not need.`,
      );
    }
    this.#beginning++;
    const watch = await this.#relays.watch(uri, via).finally(() => this.#beginning--);
    if (!watch) return false;
    if (this.#closed || this.#watched.has(uri)) watch.stop();
    else this.#watched.set(uri, watch);
    return true;
  }

  remove(uri: string): void {
    this.#watched.get(uri)?.stop();
    this.#watched.delete(uri);
  }

  /** Notifies the client of updates to the resources to which it has subscribed. Skips a resource that the caller may no longer read. */
  async updated(updates: readonly ResourceUpdate[], { principal }: McpCaller): Promise<void> {
    const isWatched = ({ server, uri }: ResourceUpdate) => this.#watched.get(uri)?.server === server;
    const own = updates.filter(isWatched);
    if (own.length === 0) return;
    const may = await this.#gate.visibility(principal);
    const { serves } = this.#upstreams.in(principal.workspace);
    for (const update of own) if (serves(update.server) && may.resource(update.server) && isWatched(update)) this.#send(update.uri);
  }

  close(): void {
    this.#closed = true;
    for (const uri of [...this.#watched.keys()]) this.remove(uri);
  }
}
