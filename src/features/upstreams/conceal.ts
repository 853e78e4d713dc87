import type { Entry } from './entry.ts';

/** Shorter values (a log level, a flag) are no secrets, and to strike them out would leave a log that nobody can read. */
const SHORTEST = 8;

/** What of an entry is nobody's business, the longest first: a part of it struck out would leave the rest standing. */
export function secretsOf({ transport }: Entry): string[] {
  const values = transport.kind === 'stdio' ? Object.values(transport.env) : [...Object.values(transport.headers), ...addressSecrets(transport.url)];
  return values
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
}

/** A function that strikes an entry's secrets out of what is said of its server. */
export function concealer(entry: Entry): (text: string) => string {
  const secrets = secretsOf(entry);
  return (text) => secrets.reduce((safe, value) => safe.replaceAll(value, '[redacted]'), text);
}

function addressSecrets(url: string): string[] {
  const { search, searchParams, pathname } = new URL(url);
  return [search.slice(1), ...searchParams.values(), ...pathname.split('/').filter((part) => part.length >= 16)];
}

/** Where a server is, as far as it can be shown: arguments, paths and queries may hold secrets. */
export const targetOf = ({ transport }: Entry): string => (transport.kind === 'stdio' ? transport.command : new URL(transport.url).origin);
