import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkTest, plainAddress } from '../../kernel/network.ts';
import { isThisMachine } from '../origin.ts';

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
