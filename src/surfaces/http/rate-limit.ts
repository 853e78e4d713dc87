import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from '../../config.ts';
import type { Clock } from '../../kernel/clock.ts';
import { addressGroup, networkTest, plainAddress } from '../../kernel/network.ts';

/** Something that callers share (memory, sockets, connections): so much in all, and of that no more than its own part for one caller. */
export class KeyedShare {
  readonly #most: number;
  readonly #mostPerKey: number;
  readonly #byKey = new Map<string, number>();
  #taken = 0;

  constructor(most: number, mostPerKey: number) {
    this.#most = most;
    this.#mostPerKey = mostPerKey;
  }

  take(key: string, amount = 1): boolean {
    const own = (this.#byKey.get(key) ?? 0) + amount;
    if (own > this.#mostPerKey || this.#taken + amount > this.#most) return false;
    if (own > 0) this.#byKey.set(key, own);
    this.#taken += amount;
    return true;
  }

  giveBack(key: string, amount = 1): void {
    const own = (this.#byKey.get(key) ?? 0) - amount;
    if (own > 0) this.#byKey.set(key, own);
    else this.#byKey.delete(key);
    this.#taken -= amount;
  }
}

interface Bucket {
  left: number;
  at: number;
}

/** More would only be kept for an attacker who invents addresses; who is forgotten begins with a full bucket. */
const MAX_KEYS = 10_000;

/** A bucket of requests for each key, refilled by `perSecond` up to `burst`. */
export class RateLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Pick<Clock, 'now'>, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Takes requests of `key`: 0 where enough were left, otherwise the whole seconds until there are. */
  take(key: string, count = 1): number {
    const now = this.#clock.now();
    const bucket = this.#bucketOf(key, now);
    // A clock that was set back refills nothing, and must not stop the refill until it has caught up.
    bucket.left = Math.min(this.#burst, bucket.left + (Math.max(0, now - bucket.at) / 1_000) * this.#perSecond);
    bucket.at = now;
    if (bucket.left < count) return Math.max(1, Math.ceil((count - bucket.left) / this.#perSecond));
    bucket.left -= count;
    return 0;
  }

  /** For a request that turned out to be somebody else's. */
  giveBack(key: string): void {
    const bucket = this.#buckets.get(key);
    if (bucket) bucket.left = Math.min(this.#burst, bucket.left + 1);
  }

  #bucketOf(key: string, now: number): Bucket {
    const known = this.#buckets.get(key);
    if (known) return known;
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size >= MAX_KEYS && oldest !== undefined) this.#buckets.delete(oldest);
    const bucket = { left: this.#burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/**
 * The most requests of one connection that wait for their answer to be read: until then each is kept in memory. Clients wait for an
 * answer before they ask again; one that does not could have us keep as much as it likes.
 */
const MAX_UNANSWERED = 16;

export function boundPipelining(listener: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const count = (unanswered.get(socket) ?? 0) + 1;
    // One piece of what was received may hold many requests more: they still come, and nobody is left to answer.
    if (count > MAX_UNANSWERED) return void socket.destroy();
    unanswered.set(socket, count);
    outgoing.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    return listener(incoming, outgoing);
  };
}

/** So that nobody who only connects can keep others from it. A trusted proxy brings the connections of many. */
export function boundConnections(
  server: Server,
  limits: Pick<ServerLimits, 'connections' | 'connections_per_address'>,
  trustedProxies: readonly string[],
): void {
  const isTrusted = networkTest(trustedProxies);
  const places = new KeyedShare(limits.connections, limits.connections_per_address);
  server.maxConnections = limits.connections;
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? 'unknown');
    if (isTrusted(address)) return;
    const group = addressGroup(address);
    if (!places.take(group)) return void socket.destroy();
    socket.once('close', () => places.giveBack(group));
  });
}
