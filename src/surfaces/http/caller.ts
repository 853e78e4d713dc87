import type { IncomingMessage } from 'node:http';
import type { App } from '../../main.ts';
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
