import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Authentication } from '../../features/identity/index.ts';
import type { Principal } from '../../kernel/context.ts';
import { addressGroup } from '../../kernel/network.ts';
import type { App } from '../../main.ts';
import { type Body, ReadingShare, readJsonBody } from './body.ts';
import { bearer, cookie, pathOf, proofOf, ticketOf } from './caller.ts';
import { RateLimit } from './rate-limit.ts';
import { type HttpRefusal, PROOF_REQUIRED, rateLimited, SIGNED_OUT, TICKET_REQUIRED, UNAUTHENTICATED } from './refuse.ts';
import { createSourceOf } from './source.ts';

type OrRefusal<T> = T | { readonly refusal: HttpRefusal };

export interface Exchanged {
  readonly incoming: IncomingMessage;
  readonly outgoing?: ServerResponse | undefined;
  /** A cookie is proven by the address's ticket, for what a browser opens without headers, and not by the page's own header. */
  readonly byTicket?: boolean;
}

interface Credentials {
  readonly token?: string | undefined;
  readonly cookie?: string | undefined;
  readonly byTicket?: boolean;
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
  readBody(request: Exchanged, sender: Sender): Promise<Body>;
}

/** Pages and files are for everybody: no credential is looked up for them. */
const WITH_CREDENTIALS = /^\/(api|mcp|metrics)(\/|\?|$)/;
/** A small body has arrived with its headers; the rest of a larger one is not waited for. */
const ARRIVED_BYTES = 64 * 1024;
/** How long an address beyond its rate waits for its refusal: answered at once, a flood would come again at once, and take the time of known callers. */
const HELD_BACK_MS = 250;

export function createEntrance(app: App, cookieName: () => string): Entrance {
  const { limits, trusted_proxies } = app.config;
  const sourceOf = createSourceOf(trusted_proxies);
  const byToken = new RateLimit(app.clock, limits.token_requests_per_second, limits.token_burst);
  const byAddress = new RateLimit(app.clock, limits.address_requests_per_second, limits.address_burst);
  const found = new WeakMap<IncomingMessage, { credential: string; byTicket: boolean; result: Authentication }>();
  // Unknown callers cannot take what known ones need.
  const strangers = new ReadingShare(limits.reading_bytes / 4);
  const callers = new ReadingShare(limits.reading_bytes - limits.reading_bytes / 4);
  const bounds = {
    known: { ...limits, maxBytes: limits.body_bytes, share: callers },
    unknown: { ...limits, maxBytes: limits.unknown_body_bytes, share: strangers },
    device: { ...limits, maxBytes: limits.device_body_bytes, share: strangers },
  };

  /** Of each token, the bytes of the bodies whose calls are under way. */
  const underWay = new Map<string, number>();
  const keepsTooMuch = ({ incoming, outgoing }: Exchanged, bytes: number): boolean => {
    const { tokenId = '' } = principalOf(incoming) ?? {};
    const total = (underWay.get(tokenId) ?? 0) + bytes;
    if (total > limits.token_body_bytes) return true;
    underWay.set(tokenId, total);
    outgoing?.once('close', () => {
      const left = (underWay.get(tokenId) ?? 0) - bytes;
      if (left > 0) underWay.set(tokenId, left);
      else underWay.delete(tokenId);
    });
    return false;
  };

  /** Once for each request: a ticket works once. */
  const authenticated = async (incoming: IncomingMessage, { token, cookie: session, byTicket = false }: Credentials): Promise<Authentication> => {
    const credential = token ?? session;
    const known = found.get(incoming);
    if (known && known.credential === credential && (token !== undefined || known.byTicket === byTicket)) return known.result;
    const proof = byTicket ? { ticket: ticketOf(incoming), path: pathOf(incoming) } : { secret: proofOf(incoming) };
    const result = token === undefined && session !== undefined ? await app.authenticate(session, 'cookie', proof) : await app.authenticate(token, 'bearer');
    if (credential !== undefined) found.set(incoming, { credential, byTicket, result });
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
    const door = credentials.token === undefined && credentials.cookie !== undefined ? 'cookie' : 'bearer';
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
    async admit({ incoming, outgoing, byTicket }) {
      const credentials = { token: bearer(incoming), cookie: cookie(incoming, cookieName()), byTicket };
      const isGiven = credentials.token !== undefined || credentials.cookie !== undefined;
      if (isGiven && WITH_CREDENTIALS.test(incoming.url ?? '')) await authenticated(incoming, credentials);
      const principal = principalOf(incoming);
      if (!principal && hasMoreToCome(incoming)) outgoing?.setHeader('connection', 'close');
      const refusal = limited(incoming, principal);
      if (refusal && !principal) await pause(HELD_BACK_MS);
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
    async readBody(request, sender) {
      const body = await readJsonBody(request.incoming, bounds[sender]);
      return sender === 'known' && 'bytes' in body && keepsTooMuch(request, body.bytes) ? { problem: { kind: 'busy' } } : body;
    },
  };
}

function hasMoreToCome({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > ARRIVED_BYTES;
}
