import type { ServerEntry } from './entry.ts';

/** Only values with at least this length are redacted. Shorter ones, such as a log level, are no secrets, and the log would become unreadable. */
const SHORTEST = 8;

/** The secrets of an entry, longest first. If a secret contains another one, redacting the short one first would leave the rest readable. */
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

/** Returns a function that redacts an entry's secrets from texts about its server. */
export function concealer(entry: ServerEntry): (text: string) => string {
  const secrets = secretsOf(entry);
  return (text) => secrets.reduce((safe, value) => safe.replaceAll(value, '[redacted]'), text);
}

const WORD = '(?:auth|token|key|secret|passw|credential)';
/** Matches flags such as `--api-key`. Their value is the next argument. */
const FLAG = new RegExp(`^--?[\\w-]*${WORD}[\\w-]*$`, 'i');
/** Matches arguments that contain both name and value, such as `--api-key=…` and `Authorization: Bearer …`. */
const NAMED = new RegExp(`${WORD}[\\w-]*["']?\\s*[:=]\\s*(.+)$`, 'is');
const IN_ADDRESS = /:\/\/[^/\s:@]*:([^/\s@]+)@/;

/** Finds the arguments whose names look like those of secrets. Other arguments stay readable, because the log would be useless without them. */
function argumentSecrets(args: readonly string[]): string[] {
  const found = args.flatMap((text, place) => [FLAG.test(args[place - 1] ?? '') ? text : undefined, NAMED.exec(text)?.[1], IN_ADDRESS.exec(text)?.[1]]);
  return found.filter((value) => value !== undefined);
}

function addressSecrets(url: string): string[] {
  const { search, searchParams, pathname } = new URL(url);
  return [search.slice(1), ...searchParams.values(), ...pathname.split('/').filter((part) => part.length >= 16)];
}

/** What may be shown of a command or an address: only the program or the origin, because arguments, paths and queries may contain secrets. */
export const targetOf = ({ transport }: ServerEntry): string => (transport.kind === 'stdio' ? transport.command : new URL(transport.url).origin);
