import type { Log } from '../../../kernel/log.ts';
import type { UpstreamConnection } from './connection.ts';
import { errorLine, failureOf } from './failures.ts';
import type { Supervisor } from './supervisor.ts';

/** The resources of one server that clients watch. Covenant subscribes to each of them once, and again after every start of the server. */
export class Watches {
  readonly #supervisor: Supervisor;
  readonly #log: Log;
  readonly #watched = new Map<string, { count: number; readonly begun: Promise<void> }>();

  constructor(supervisor: Supervisor, log: Log) {
    this.#supervisor = supervisor;
    this.#log = log;
  }

  /** Whether a resource is watched. Changes of other resources are not reported to clients. */
  has(uri: string): boolean {
    return this.#watched.has(uri);
  }

  /** Watches a resource until the returned function is called. */
  async watch(uri: string): Promise<() => void> {
    const entry = this.#watched.get(uri) ?? { count: 0, begun: this.#begin(uri) };
    entry.count++;
    this.#watched.set(uri, entry);
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      if (--entry.count > 0 || this.#watched.get(uri) !== entry) return;
      this.#watched.delete(uri);
      this.#supervisor.connection?.notices.unwatch(uri).catch((error) => this.#log.debug('resource still subscribed', { uri, error: errorLine(error) }));
    };
    try {
      await entry.begun;
      return release;
    } catch (error) {
      if (this.#watched.get(uri) === entry) this.#watched.delete(uri);
      throw failureOf(this.#supervisor.entry.name, error).thrown;
    }
  }

  /** Subscribes to all watched resources again, because a server has no subscriptions after a start. */
  restore(connection: UpstreamConnection): void {
    connection.notices
      .watch([...this.#watched.keys()])
      .catch((error) => this.#log.warn('could not renew resource subscriptions', { server: connection.server, error: errorLine(error) }));
  }

  async #begin(uri: string): Promise<void> {
    const connection = await this.#supervisor.connected(AbortSignal.timeout(this.#supervisor.entry.timeoutMs));
    await connection.notices.watch([uri]);
  }
}
