import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../../kernel/context.ts';
import { newId } from '../../kernel/ids.ts';
import { RequestScope } from '../../kernel/trace.ts';
import { pathOf } from './caller.ts';

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
