import { CliError } from './cli/command.ts';

export const DEFAULT_ORIGIN = 'http://127.0.0.1:3001';

/**
 * Returns the origin of a Covenant server: scheme, host and port only. Refuses a password, because it would be sent with every call and written to shared
 * files. Refuses a path, because such a URL belongs to a single page. The error message never repeats the value, because it may contain a password.
 */
export function originFrom(value: string, name: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  // If this condition is true, the URL has no credentials, path, query or fragment, not even empty ones.
  if (url && isHttp && url.href === `${url.origin}/`) return url.origin;
  throw new CliError(
    'BAD_ORIGIN',
    `${name} ${problemOf(url, isHttp)}.`,
    `Give only the origin of the Covenant server: scheme, host and port, for example ${DEFAULT_ORIGIN}.`,
  );
}

function problemOf(url: URL | undefined, isHttp: boolean): string {
  if (!url || !isHttp) return 'is not an http or https address';
  if (url.username || url.password) return 'contains a user name or password';
  if (/\bcallback\b/i.test(url.pathname)) return 'is a callback address';
  if (url.search || url.href.includes('?')) return 'has a query';
  if (url.hash || url.href.includes('#')) return 'has a fragment';
  return 'has a path';
}

/** Returns whether requests to this origin stay on this machine. */
export const isThisMachine = (origin: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(origin).hostname);
