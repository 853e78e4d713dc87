import type { IncomingHttpHeaders } from 'node:http';
import { isThisMachine } from '../origin.ts';
import { isLoopback } from './caller.ts';

/** What proxies add. One that adds nothing and calls us by our own name, as a tunnel does, cannot be told from a program of this machine. */
const PROXIES = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** Called from this machine, by a name of this machine, and not on behalf of somebody else as far as the request says. */
export function isFromHere(address: string, headers: IncomingHttpHeaders): boolean {
  const called = `http://${headers.host}`;
  return isLoopback(address) && URL.canParse(called) && isThisMachine(called) && !PROXIES.some((name) => name in headers);
}
