import { type Client, type McpSubscription, ProtocolError, type SubscriptionFilter } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import type { Json } from '../../../kernel/relay.ts';
import { rpcErrorOf } from './failures.ts';
import { delayBefore, STEADY_MS } from './pauses.ts';

export interface NoticesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly ackTimeoutMs: number;
  /** Called when the stream was interrupted and is open again. Changes during the interruption were missed. */
  readonly missed: () => void;
  /** Called when the stream could not be opened. */
  readonly broken: (error: unknown) => void;
}

/**
 * Receives the changes that a server reports. A server with the older revision reports changes of its lists unasked, and changes of the resources
 * that were subscribed to. A server with the newer revision reports changes on a stream, and the request that opens the stream lists what to report.
 * For that reason the stream is opened again when that list changes, and also when the stream ends.
 */
export class Notices {
  readonly #o: NoticesOptions;
  readonly #capabilities: Json;
  readonly #modern: boolean;
  readonly #uris = new Set<string>();
  #stream: McpSubscription | undefined;
  #turn: Promise<void> = Promise.resolve();
  #failures = 0;
  #callOff: (() => void) | undefined;
  #ended = false;

  constructor(options: NoticesOptions) {
    this.#o = options;
    this.#modern = options.client.getProtocolEra() === 'modern';
    this.#capabilities = (options.client.getServerCapabilities() ?? {}) as Json;
  }

  /** Opens the stream if the server supports it. Other servers can still be used. */
  begin(): void {
    if (this.#modern && Object.keys(this.#filter()).length > 0) this.#reopen().catch((error) => this.#failed(error));
  }

  async watch(uris: readonly string[]): Promise<void> {
    if (uris.length === 0) return;
    if (!(this.#capabilities.resources as Json | undefined)?.subscribe) {
      throw new ProtocolError(-32601, 'The server does not report changes of its resources.');
    }
    if (!this.#modern) {
      // All resources are subscribed to independently, so that one missing resource does not prevent the other subscriptions.
      const asked = uris.map((uri) => this.#o.client.subscribeResource({ uri }, { timeout: this.#o.ackTimeoutMs }));
      const refused = (await Promise.allSettled(asked)).find(({ status }) => status === 'rejected');
      if (refused?.status === 'rejected') throw refused.reason;
      return;
    }
    const added = uris.filter((uri) => !this.#uris.has(uri));
    for (const uri of added) this.#uris.add(uri);
    try {
      await this.#reopen();
    } catch (error) {
      for (const uri of added) this.#uris.delete(uri);
      throw error;
    }
  }

  async unwatch(uri: string): Promise<void> {
    if (!this.#modern) {
      await this.#o.client.unsubscribeResource({ uri }, { timeout: this.#o.ackTimeoutMs });
      return;
    }
    if (this.#uris.delete(uri)) await this.#reopen();
  }

  end(): void {
    this.#ended = true;
    this.#callOff?.();
  }

  #filter(): SubscriptionFilter {
    const { tools, prompts, resources } = this.#capabilities as Record<string, { listChanged?: boolean } | undefined>;
    return {
      ...(tools?.listChanged ? { toolsListChanged: true } : {}),
      ...(prompts?.listChanged ? { promptsListChanged: true } : {}),
      ...(resources?.listChanged ? { resourcesListChanged: true } : {}),
      ...(this.#uris.size > 0 ? { resourceSubscriptions: [...this.#uris] } : {}),
    };
  }

  /** Opens the stream again. The old stream is closed only after the new one is open, so that no change is missed. Runs one at a time. */
  #reopen(): Promise<void> {
    const done = this.#turn.then(async () => {
      if (this.#ended) return;
      const old = this.#stream;
      const filter = this.#filter();
      this.#stream = Object.keys(filter).length > 0 ? await this.#open(filter) : undefined;
      await old?.close();
    });
    this.#turn = done.catch(() => {});
    return done;
  }

  async #open(filter: SubscriptionFilter): Promise<McpSubscription> {
    const stream = await this.#o.client.listen(filter, { timeout: this.#o.ackTimeoutMs });
    const opened = this.#o.clock.now();
    void stream.closed.then((cause) => {
      if (cause === 'local' || this.#ended) return;
      if (this.#o.clock.now() - opened >= STEADY_MS) this.#failures = 0;
      this.#again();
    });
    return stream;
  }

  #again(): void {
    this.#callOff?.();
    this.#callOff = this.#o.clock.after(delayBefore(this.#failures++, 0), () => {
      this.#reopen().then(this.#o.missed, (error) => this.#failed(error));
    });
  }

  #failed(error: unknown): void {
    if (this.#ended) return;
    // If the server itself rejected the request, it would reject it again, so there is no further attempt.
    if (!rpcErrorOf(error)) this.#again();
    this.#o.broken(error);
  }
}
