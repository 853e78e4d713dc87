import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parsedBytes, type ServerLimits } from '../../config.ts';
import type { Authentication } from '../../features/core/identity/index.ts';
import type { Principal } from '../../kernel/context.ts';
import { addressGroup } from '../../kernel/network.ts';
import type { App } from '../../main.ts';
import { type RequestBody, readJsonBody, SMALL_BYTES } from './body.ts';
import { bearer, cookies, createSourceOf, pathOf, proofOf, ticketOf } from './caller.ts';
import { KeyedShare, RateLimit } from './rate-limit.ts';
import { type HttpRefusal, PROOF_REQUIRED, rateLimited, SIGNED_OUT, TICKET_REQUIRED, UNAUTHENTICATED } from './refuse.ts';

type OrRefusal<T> = T | { readonly refusal: HttpRefusal };

export interface Exchanged {
  readonly incoming: IncomingMessage;
  readonly outgoing?: ServerResponse | undefined;
  /** As routes are found by it, not as it was spelled. */
  readonly path: string;
  /** A cookie is proven by the address's ticket, for what a browser opens without headers, and not by the page's own header. */
  readonly byTicket?: boolean | undefined;
}

interface Credentials {
  /** Left out where no token opens the door. */
  readonly token?: string | undefined;
  /** By the dashboard's session, where no token is given. */
  readonly session?: boolean;
  readonly byTicket?: boolean | undefined;
}

/** Who may send how much of a body: a known caller, one whose token is in the body, a machine or browser that has no credential yet. */
export type Sender = 'known' | 'unknown' | 'device';

/** What every request passes before anything of its body is read: who sends it, and whether that is too often. */
export interface Entrance {
  readonly sourceOf: (incoming: IncomingMessage) => string;
  /** Counts the request: by its token where that is valid, otherwise by its address. The refusal, where that was one too many. */
  admit(request: Exchanged): Promise<HttpRefusal | undefined>;
  /** Who calls, or the refusal, which is journaled without the credential. */
  identify(incoming: IncomingMessage, credentials: Credentials): Promise<OrRefusal<{ principal: Principal }>>;
  /** The same by a token in the body: what was counted by its address counts by that token. */
  identifyByBody(incoming: IncomingMessage, token: string | undefined): Promise<OrRefusal<{ principal: Principal }>>;
  /** For a body that holds several calls: each counts. */
  countMore(incoming: IncomingMessage, principal: Principal, calls: number): HttpRefusal | undefined;
  /** Whether `admit` has found a valid credential. */
  isKnown(incoming: IncomingMessage): boolean;
  /** As whom the browser is signed in that sends this, if it is. */
  sessionOf(incoming: IncomingMessage): Promise<Principal | undefined>;
  readBody(request: Pick<Exchanged, 'incoming' | 'outgoing'>, sender: Sender): Promise<RequestBody>;
}

/** Pages and files are for everybody: no credential is looked up for them. */
const WITH_CREDENTIALS = /^\/(api|mcp|metrics)(\/|$)/;
/**
 * How long at least an address beyond its rate waits for its refusal: answered at once, a flood would come again at once, and take the
 * time of known callers. Not all wait as long: they would come back as one wave.
 */
const HELD_BACK_MS = 250;

export function createEntrance(app: App, cookieName: () => string): Entrance {
  const { limits, trusted_proxies } = app.config;
  const sourceOf = createSourceOf(trusted_proxies);
  const byToken = new RateLimit(app.clock, limits.token_requests_per_second, limits.token_burst);
  const byAddress = new RateLimit(app.clock, limits.address_requests_per_second, limits.address_burst);
  /** What was found out about a request: a ticket works once. */
  const found = new WeakMap<IncomingMessage, { way: string; result: Authentication }>();
  const shares = sharesOf(limits);

  /** A call keeps its arguments until it is answered: those of one token take no more than its part. */
  const isKept = ({ incoming, outgoing }: Pick<Exchanged, 'incoming' | 'outgoing'>, bytes: number): boolean => {
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

  /** Another port of the host can set a cookie of the same name, which browsers may send first: it keeps nobody out. */
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

  const limited = (incoming: IncomingMessage, principal: Principal | undefined, count = 1): HttpRefusal | undefined => {
    const source = sourceOf(incoming);
    const seconds = principal ? byToken.take(principal.tokenId, count) : byAddress.take(addressGroup(source), count);
    if (seconds === 0) return undefined;
    const refusal = rateLimited(seconds, principal ? 'token' : 'address');
    app.refusals.count(principal ?? source, refusal.reply.code);
    return refusal;
  };

  const identify: Entrance['identify'] = async (incoming, credentials) => {
    // Where a token would do as well, who brings neither is told of the token.
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
      const refusal = limited(incoming, principal);
      if (refusal && !principal) await pause(HELD_BACK_MS * (1 + Math.random()));
      return refusal;
    },
    countMore: limited,
    isKnown: (incoming) => principalOf(incoming) !== undefined,
    async identifyByBody(incoming, token) {
      const wasKnown = principalOf(incoming) !== undefined;
      const caller = await identify(incoming, { token });
      if ('refusal' in caller || wasKnown) return caller;
      byAddress.giveBack(addressGroup(sourceOf(incoming)));
      const refusal = limited(incoming, caller.principal);
      return refusal ? { refusal } : caller;
    },
    async sessionOf(incoming) {
      const known = await bySession(incoming, false);
      return 'principal' in known ? known.principal : undefined;
    },
    async readBody(request, sender) {
      const key = sender === 'known' ? (principalOf(request.incoming)?.tokenId ?? '') : addressGroup(sourceOf(request.incoming));
      const body = await readJsonBody(request.incoming, { ...limits, ...shares[sender], key });
      const isHeld = sender !== 'known' || 'problem' in body || isKept(request, parsedBytes(body.bytes, body.nodes));
      return isHeld ? body : { problem: { kind: 'busy' } };
    },
  };
}

/**
 * Who sends it decides out of which part of the memory a body is read. Callers who are not known cannot take what known ones need, nor
 * calls to `/api/mcp` what sign-in and device setup need, nor large bodies what small ones need, nor one caller what others need.
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

/** A small body has arrived with its headers; the rest of a larger one is not waited for. */
function hasMoreToCome({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}
