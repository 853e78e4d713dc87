import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { App } from '../../main.ts';
import type { McpCaller } from './caller.ts';
import type { Relays, Via, Watch } from './relays.ts';

export const MOST_SUBSCRIPTIONS = 100;

/** The resources that one client has subscribed to. Begun through the pipe; over when the client's session or stream is. */
export class Subscriptions {
  readonly #gate: App['gate'];
  readonly #relays: Relays;
  readonly #send: (uri: string) => void;
  readonly #watched = new Map<string, Watch>();
  #closed = false;

  constructor(app: App, relays: Relays, send: (uri: string) => void) {
    this.#gate = app.gate;
    this.#relays = relays;
    this.#send = send;
  }

  /** False: there is no such resource that the caller may read. */
  async add(uri: string, via: Via): Promise<boolean> {
    if (this.#watched.has(uri)) return true;
    if (this.#watched.size >= MOST_SUBSCRIPTIONS) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `A client can watch ${MOST_SUBSCRIPTIONS} resources at most. Unsubscribe from one that is no longer needed.`,
      );
    }
    const watch = await this.#relays.watch(uri, via);
    if (!watch) return false;
    if (this.#closed || this.#watched.has(uri)) watch.stop();
    else this.#watched.set(uri, watch);
    return true;
  }

  remove(uri: string): void {
    this.#watched.get(uri)?.stop();
    this.#watched.delete(uri);
  }

  /** Told to the client that subscribed, and only while it may read. */
  async updated(server: string, uri: string, { principal }: McpCaller): Promise<void> {
    if (this.#watched.get(uri)?.server !== server) return;
    const may = await this.#gate.visibility(principal);
    if (may.resource(server) && this.#watched.has(uri)) this.#send(uri);
  }

  close(): void {
    this.#closed = true;
    for (const uri of [...this.#watched.keys()]) this.remove(uri);
  }
}
