import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkTest, plainAddress } from '../../kernel/network.ts';
import type { App } from '../../main.ts';
import { isThisMachine } from '../origin.ts';
import { PROOF_HEADER } from './refuse.ts';

/** Cookies of one host are shared by all its ports: the port in the name keeps several servers apart. */
export const cookieName = (port: number): string => `covenant_${port}`;

export function bearer(incoming: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(incoming.headers.authorization ?? '')?.[1];
}

/** More of one name are nobody's but an attacker's. */
const MAX_COOKIES = 4;

/** The values of all cookies of that name, as the browser sent them. */
export function cookies(incoming: IncomingMessage, name: string): string[] {
  const pairs = (incoming.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return pairs.flatMap(([key, value]) => (key === name && value !== undefined ? [value] : [])).slice(0, MAX_COOKIES);
}

/** By the name that it was called by, which the guard knows as ours; behind a proxy the operator has said what people see of it. */
export function originOf({ config }: App, { headers }: IncomingMessage): string {
  const host = headers.host?.toLowerCase() ?? '';
  return config.allowed_origins.find((origin) => URL.canParse(origin) && new URL(origin).host === host) ?? `http://${host}`;
}

export const proofOf = ({ headers }: IncomingMessage): string | undefined => {
  const sent = headers[PROOF_HEADER];
  return typeof sent === 'string' ? sent : undefined;
};

export const ticketOf = ({ url }: IncomingMessage): string | undefined => URL.parse(url ?? '/', 'http://localhost')?.searchParams.get('ticket') ?? undefined;

/** Without the query, and without a secret in the path, however a client spells it. */
export function pathOf(incoming: IncomingMessage): string {
  const path = (incoming.url ?? '').replace(/^[a-z]+:\/\/[^/?]*/i, '').split('?', 1)[0] ?? '';
  const spelled = path.replace(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return /\/signin\//i.test(spelled) ? '/signin' : path.slice(0, 200);
}

/** The address of the connection, whoever it carries requests for. */
export const peerOf = (incoming: IncomingMessage): string => plainAddress(incoming.socket.remoteAddress ?? 'unknown');

/**
 * Who sent a request: the peer, unless that is a proxy which the operator trusts. Then it is the nearest address in
 * `X-Forwarded-For` that is no such proxy; what stands before it the caller may have made up.
 */
export function createSourceOf(trustedProxies: readonly string[]): (incoming: IncomingMessage) => string {
  const isTrusted = networkTest(trustedProxies);
  return (incoming) => {
    let source = peerOf(incoming);
    const hops = String(incoming.headers['x-forwarded-for'] ?? '').split(',');
    while (isTrusted(source)) {
      const hop = addressIn(hops.pop() ?? '');
      if (hop === undefined) break;
      source = hop;
    }
    return source;
  };
}

/** Some proxies add the port. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim();
  const [, bare = text] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  return isIP(bare) === 0 ? undefined : plainAddress(bare);
}

/** What proxies add. One that adds nothing and calls us by our own name, as a tunnel does, cannot be told from a program of this machine. */
const ADDED_BY_PROXIES = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

const isLoopback = (address: string): boolean => address === '::1' || /^(::ffff:)?127\./.test(address);

/** Called from this machine, by a name of this machine, and not on behalf of somebody else as far as the request says. */
export function isFromHere(address: string, headers: IncomingHttpHeaders): boolean {
  const called = `http://${headers.host}`;
  return isLoopback(address) && URL.canParse(called) && isThisMachine(called) && !ADDED_BY_PROXIES.some((name) => name in headers);
}
