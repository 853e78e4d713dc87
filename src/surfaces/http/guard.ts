import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../config.ts';
import type { Services } from '../../kernel/context.ts';
import { newId } from '../../kernel/ids.ts';
import { RequestScope } from '../../kernel/trace.ts';
import { pathOf } from './caller.ts';

/** Why a request is turned away before anything is read of it, or nothing. */
export type GuardProblem = 'host' | 'origin';
export type Guard = (host: string | undefined, origin: string | undefined, site?: string | undefined) => GuardProblem | undefined;

/** As browsers name who asks in `Sec-Fetch-Site`: another site, or another port of this one. */
const FOREIGN_SITES = new Set<string | undefined>(['cross-site', 'same-site']);

/**
 * Against DNS rebinding: the Host must be a name that is ours. Against other sites' pages: an Origin must be the very
 * address that was called, port included, because a cookie for localhost goes to every port of it. Without an Origin, as with
 * a picture or a script that a page takes from elsewhere, `site` decides where it is given.
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

const HEADER = 'x-request-id';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** Every request has an id, which its answer, the call that it brings and the lines that are logged meanwhile carry. */
export function attended({ clock, log }: Pick<Services, 'clock' | 'log'>, listener: Listener): (...request: Parameters<Listener>) => void {
  return (incoming, outgoing) => {
    const started = performance.now();
    const request = newId('req', clock.now());
    const errand = new RequestScope({ request, lends: true });
    outgoing.setHeader(HEADER, request);
    outgoing.once('close', () => {
      errand.end();
      const ms = Math.round((performance.now() - started) * 10) / 10;
      log.debug('request', { request, method: incoming.method, path: pathOf(incoming), status: outgoing.statusCode, ms });
    });
    errand.run(() => listener(incoming, outgoing));
  };
}

export const requestOf = (outgoing: { getHeader(name: string): unknown }): string => String(outgoing.getHeader(HEADER));
