import type { ServerEntry } from './entry.ts';

/** Shorter values (a log level, a flag) are no secrets, and to strike them out would leave a log that nobody can read. */
const SHORTEST = 8;

/** The secrets of an entry, the longest first: if a part were struck out first, the rest would stay readable. */
export function secretsOf({ transport }: ServerEntry): string[] {
  const values =
    transport.kind === 'stdio'
      ? [...Object.values(transport.env), ...argumentSecrets(transport.args)]
      : [...Object.values(transport.headers), ...addressSecrets(transport.url)];
  return values
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
}

/** A function that strikes an entry's secrets out of what is said of its server. */
export function concealer(entry: ServerEntry): (text: string) => string {
  const secrets = secretsOf(entry);
  return (text) => secrets.reduce((safe, value) => safe.replaceAll(value, '[redacted]'), text);
}

const WORD = '(?:auth|token|key|secret|passw|credential)';
/** `--api-key`, of which the next argument is the value. */
const FLAG = new RegExp(`^--?[\\w-]*${WORD}[\\w-]*$`, 'i');
/** `--api-key=…`, `Authorization: Bearer …` */
const NAMED = new RegExp(`${WORD}[\\w-]*["']?\\s*[:=]\\s*(.+)$`, 'is');
const IN_ADDRESS = /:\/\/[^/\s:@]*:([^/\s@]+)@/;

/** Most arguments are no secrets, and a log without them would say nothing: those that are called so. */
function argumentSecrets(args: readonly string[]): string[] {
  const found = args.flatMap((text, place) => [FLAG.test(args[place - 1] ?? '') ? text : undefined, NAMED.exec(text)?.[1], IN_ADDRESS.exec(text)?.[1]]);
  return found.filter((value) => value !== undefined);
}

function addressSecrets(url: string): string[] {
  const { search, searchParams, pathname } = new URL(url);
  return [search.slice(1), ...searchParams.values(), ...pathname.split('/').filter((part) => part.length >= 16)];
}

/** The program or origin of a server: arguments, paths and queries may hold secrets. */
export const targetOf = ({ transport }: ServerEntry): string => (transport.kind === 'stdio' ? transport.command : new URL(transport.url).origin);
