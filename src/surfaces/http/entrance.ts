import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config, ServerLimits } from '../../config.ts';
import type { Authentication } from '../../features/core/identity/index.ts';
import type { Principal } from '../../kernel/call.ts';
import type { Clock } from '../../kernel/clock.ts';
import { addressGroup, networkTest } from '../../kernel/network.ts';
import type { App } from '../../main.ts';
import { type GuardProblem, type HttpRefusal, type OrRefusal, PROOF_REQUIRED, rateLimited, SIGNED_OUT, TICKET_REQUIRED, UNAUTHENTICATED } from './refuse.ts';
import { bearer, cookies, createSourceOf, pathOf, plainAddress, proofOf, type RequestBody, readJsonBody, SMALL_BYTES, ticketOf } from './request.ts';

interface IncomingRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing?: ServerResponse | undefined;
  /** The decoded path, because routes are matched by the decoded path. */
  readonly path: string;
  /**
   * Whether a ticket in the URL can prove that the dashboard sent the request. Some URLs
   * are opened by the browser itself, and the page cannot add its header to such a request.
   */
  readonly byTicket?: boolean | undefined;
}

interface Credentials {
  /** Omitted if the route accepts no token. */
  readonly token?: string | undefined;
  /** Whether the dashboard's session is accepted if there is no token. */
  readonly session?: boolean;
  readonly byTicket?: boolean | undefined;
}

/**
 * The kind of sender, which determines the limits for the body. `known`: a caller with a valid credential. `unknown`: a caller whose token may be in the
 * body. `device`: a device or browser without a credential.
 */
type Sender = 'known' | 'unknown' | 'device';

/** Authenticates and rate-limits each request before its body is read. */
export interface Entrance {
  readonly sourceOf: (incoming: IncomingMessage) => string;
  /**
   * Counts the request against the limit of its valid token. If it has no valid token, it counts for its address. Returns a refusal if the limit is exceeded.
   */
  admit(request: IncomingRequest): Promise<HttpRefusal | undefined>;
  /** Returns the caller or a refusal. The journal records a refusal without the credential. */
  identify(incoming: IncomingMessage, credentials: Credentials): Promise<OrRefusal<{ principal: Principal }>>;
  /** Works like `identify`, but with a token from the body. The request then counts for the token instead of the address. */
  identifyByBody(incoming: IncomingMessage, token: string | undefined): Promise<OrRefusal<{ principal: Principal }>>;
  /** Counts the further calls of a batch against the limit of the caller. */
  countMore(incoming: IncomingMessage, principal: Principal, calls: number): HttpRefusal | undefined;
  /** Returns whether `admit` found a valid credential. */
  isKnown(incoming: IncomingMessage): boolean;
  /** Returns the principal of a sign-in cookie in the request, if there is a valid one. */
  sessionOf(incoming: IncomingMessage): Promise<Principal | undefined>;
  readBody(request: Pick<IncomingRequest, 'incoming' | 'outgoing'>, sender: Sender): Promise<RequestBody>;
}

/** Paths that need credentials. Pages and files are public. */
const WITH_CREDENTIALS = /^\/(api|mcp|metrics)(\/|$)/;
/**
 * The minimum delay of a 429 answer to an address. Without this delay, senders would retry immediately and slow down known callers. A random time is added,
 * so that delayed senders do not all retry at the same moment.
 */
const HELD_BACK_MS = 250;

export function createEntrance(app: App, cookieName: () => string): Entrance {
  const { limits, trusted_proxies } = app.config;
  const sourceOf = createSourceOf(trusted_proxies);
  const byToken = new RateLimit(app.clock, limits.token_requests_per_second, limits.token_burst);
  const byAddress = new RateLimit(app.clock, limits.address_requests_per_second, limits.address_burst);
  /** The authentication result of each request. It is stored, because a ticket works only once and cannot be checked again. */
  const found = new WeakMap<IncomingMessage, { way: string; result: Authentication }>();
  const shares = sharesOf(limits);

  /** Reserves memory for the arguments of a call until the call is answered. One token gets no more than its share. */
  const reserveArguments = ({ incoming, outgoing }: Pick<IncomingRequest, 'incoming' | 'outgoing'>, bytes: number): boolean => {
    const { tokenId = '' } = principalOf(incoming) ?? {};
    if (!shares.underWay.take(tokenId, bytes)) return false;
    outgoing?.once('close', () => shares.underWay.giveBack(tokenId, bytes));
    return true;
  };

  const authenticated = async (incoming: IncomingMessage, { token, session = false, byTicket = false }: Credentials): Promise<Authentication> => {
    const way = token !== undefined || !session ? `bearer ${token}` : `session ${byTicket}`;
    const known = found.get(incoming);
    if (known?.way === way) return known.result;
    const result = token !== undefined || !session ? await app.authenticate(token, 'bearer') : await bySession(incoming, byTicket);
    found.set(incoming, { way, result });
    return result;
  };

  /** Tries all cookies with this name, because a server on another port of the host can set a cookie that browsers send first. */
  const bySession = async (incoming: IncomingMessage, byTicket: boolean): Promise<Authentication> => {
    const proof = byTicket ? { ticket: ticketOf(incoming), path: pathOf(incoming) } : { secret: proofOf(incoming) };
    let result: Authentication = { rejected: 'missing' };
    for (const cookie of cookies(incoming, cookieName())) {
      result = await app.authenticate(cookie, 'cookie', proof);
      if ('principal' in result) break;
    }
    return result;
  };

  const principalOf = (incoming: IncomingMessage): Principal | undefined => {
    const result = found.get(incoming)?.result;
    return result && 'principal' in result ? result.principal : undefined;
  };

  const countRequests = (incoming: IncomingMessage, principal: Principal | undefined, count = 1): HttpRefusal | undefined => {
    const source = sourceOf(incoming);
    const seconds = principal ? byToken.take(principal.tokenId, count) : byAddress.take(addressGroup(source), count);
    if (seconds === 0) return undefined;
    const refusal = rateLimited(seconds, principal ? 'token' : 'address');
    app.refusals.count(principal ?? source, refusal.reply.code);
    return refusal;
  };

  const identify: Entrance['identify'] = async (incoming, credentials) => {
    // If the route accepts a token or a cookie and the request contains neither, the refusal asks for a token.
    const isSession = credentials.session && (!('token' in credentials) || cookies(incoming, cookieName()).length > 0);
    const door = credentials.token === undefined && isSession ? 'cookie' : 'bearer';
    const result = await authenticated(incoming, credentials);
    if ('principal' in result) return result;
    const payload = { reason: result.rejected, door, path: pathOf(incoming) };
    await app.refusals.record(sourceOf(incoming), { category: 'audit', kind: 'authentication_failed', payload });
    if (result.rejected === 'unproven') return { refusal: credentials.byTicket ? TICKET_REQUIRED : PROOF_REQUIRED };
    return { refusal: door === 'cookie' ? SIGNED_OUT : UNAUTHENTICATED };
  };

  return {
    sourceOf,
    identify,
    async admit({ incoming, outgoing, path, byTicket }) {
      const token = bearer(incoming);
      const isGiven = token !== undefined || cookies(incoming, cookieName()).length > 0;
      if (isGiven && WITH_CREDENTIALS.test(path)) await authenticated(incoming, { token, session: true, byTicket });
      const principal = principalOf(incoming);
      if (!principal && hasMoreToCome(incoming)) outgoing?.setHeader('connection', 'close');
      const refusal = countRequests(incoming, principal);
      if (refusal && !principal) await pause(HELD_BACK_MS * (1 + Math.random()));
      return refusal;
    },
    countMore: countRequests,
    isKnown: (incoming) => principalOf(incoming) !== undefined,
    async identifyByBody(incoming, token) {
      const wasKnown = principalOf(incoming) !== undefined;
      const caller = await identify(incoming, { token });
      if ('refusal' in caller || wasKnown) return caller;
      byAddress.giveBack(addressGroup(sourceOf(incoming)));
      const refusal = countRequests(incoming, caller.principal);
      return refusal ? { refusal } : caller;
    },
    async sessionOf(incoming) {
      const known = await bySession(incoming, false);
      return 'principal' in known ? known.principal : undefined;
    },
    async readBody(request, sender) {
      const key = sender === 'known' ? (principalOf(request.incoming)?.tokenId ?? '') : addressGroup(sourceOf(request.incoming));
      const body = await readJsonBody(request.incoming, { ...limits, ...shares[sender], key });
      const isHeld = sender !== 'known' || 'problem' in body || reserveArguments(request, body.memory);
      return isHeld ? body : { problem: { kind: 'busy' } };
    },
  };
}

/**
 * Divides the memory for bodies into separate shares, each with a limit for every caller. Known callers, unknown callers of `/api/mcp`, and callers of
 * sign-in and device setup cannot block each other. Large bodies have their own memory limit, so that they cannot block small ones.
 */
function sharesOf({ reading_bytes, body_bytes, unknown_body_bytes, device_body_bytes, token_body_bytes }: ServerLimits) {
  const quarter = reading_bytes / 4;
  const unknown = new KeyedShare(quarter - quarter / 16, quarter / 16);
  const device = new KeyedShare(quarter / 16, quarter / 256);
  const small = new KeyedShare(quarter, quarter / 8);
  const large = new KeyedShare(2 * quarter, Math.max(body_bytes, quarter));
  return {
    known: { maxBytes: body_bytes, small, large },
    unknown: { maxBytes: unknown_body_bytes, small: unknown, large: unknown },
    device: { maxBytes: device_body_bytes, small: device, large: device },
    underWay: new KeyedShare(2 * reading_bytes, token_body_bytes),
  };
}

/** Returns whether the body may be larger than the part that arrives together with the headers. */
function hasMoreToCome({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}

/** Checks that a request addresses this server and comes from an allowed page. Returns the problem, or undefined. */
export type Guard = (host: string | undefined, origin: string | undefined, site?: string | undefined) => GuardProblem | undefined;

/** Values of `Sec-Fetch-Site` for requests from another site, or from another port of this one. */
const FOREIGN_SITES = new Set<string | undefined>(['cross-site', 'same-site']);

/**
 * Creates the check of Host and Origin. The Host must be one of the names of this server, which prevents DNS rebinding. An Origin must equal the called
 * address, including the port. Pages on other ports are refused too, because browsers send a cookie for localhost to every port. Requests for images and
 * scripts have no Origin. For them `site` is checked, if the browser sends it.
 */
export function createGuard(config: Pick<Config, 'host' | 'allowed_hosts' | 'allowed_origins'>): Guard {
  const hosts = new Set(['localhost', '127.0.0.1', '[::1]', config.host, `[${config.host}]`, ...config.allowed_hosts].map((host) => host.toLowerCase()));
  const origins = new Set(config.allowed_origins.map((origin) => origin.toLowerCase()));
  return (host, origin, site) => {
    if (!host || !hosts.has(hostnameOf(host))) return 'host';
    if (origin === undefined) return FOREIGN_SITES.has(site) ? 'origin' : undefined;
    const own = [`http://${host}`.toLowerCase(), `https://${host}`.toLowerCase()];
    return own.includes(origin.toLowerCase()) || origins.has(origin.toLowerCase()) ? undefined : 'origin';
  };
}

const hostnameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, '');

/** Shares a resource, such as memory, sockets or connections, between callers. There is a limit for all callers together and a limit for each caller. */
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

/**
 * The maximum number of buckets in memory. It is limited, because an attacker can use any
 * number of addresses. An address whose bucket was dropped starts again with a full bucket.
 */
const MAX_KEYS = 10_000;

/** Limits the request rate with a bucket for each key. The bucket gains `perSecond` requests every second, up to `burst`. */
class RateLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Pick<Clock, 'now'>, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Takes requests from the bucket of `key`. Returns 0 if the bucket contained enough, otherwise the whole seconds to wait until it does. */
  take(key: string, count = 1): number {
    const now = this.#clock.now();
    const bucket = this.#bucketOf(key, now);
    // If the clock was set back, nothing is refilled now. Refilling continues from the new time.
    bucket.left = Math.min(this.#burst, bucket.left + (Math.max(0, now - bucket.at) / 1_000) * this.#perSecond);
    bucket.at = now;
    if (bucket.left < count) return Math.max(1, Math.ceil((count - bucket.left) / this.#perSecond));
    bucket.left -= count;
    return 0;
  }

  /** Undoes the count of a request that turned out to belong to another caller. */
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
 * The maximum number of unanswered requests on one connection. A request stays in memory until the client has read its response. Without a limit, a client
 * that sends requests and reads no responses could fill the memory.
 */
const MAX_UNANSWERED = 16;

export function boundPipelining(listener: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    const count = (unanswered.get(socket) ?? 0) + 1;
    // The connection is closed, because the data that has already been received can contain many more requests.
    if (count > MAX_UNANSWERED) return void socket.destroy();
    unanswered.set(socket, count);
    outgoing.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    return listener(incoming, outgoing);
  };
}

/**
 * Limits the connections of the whole server and of each address. A trusted proxy has no limit of its own, because it forwards the requests of many callers.
 */
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
