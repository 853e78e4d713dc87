import { CliError } from './cli/command.ts';

export const DEFAULT_ORIGIN = 'http://127.0.0.1:3001';

/**
 * The origin of a Covenant server: scheme, host and port alone. A password would go with every call and stand in files that are
 * shared, and an address with more than that is some page's. The message never repeats the value: it may carry a password.
 */
export function originFrom(value: string, name: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  // The href of a bare origin has nothing after it: no credentials, path, query or hash, not even an empty one.
  if (url && isHttp && url.href === `${url.origin}/`) return url.origin;
  throw new CliError(
    'BAD_ORIGIN',
    `${name} ${problemOf(url, isHttp)}.`,
    `Give the origin of the Covenant server alone: scheme, host and port, such as ${DEFAULT_ORIGIN}.`,
  );
}

function problemOf(url: URL | undefined, isHttp: boolean): string {
  if (!url || !isHttp) return 'is not an http or https address';
  if (url.username || url.password) return 'carries a user name or password';
  if (/\bcallback\b/i.test(url.pathname)) return 'is a callback address';
  if (url.search || url.href.includes('?')) return 'has a query';
  if (url.hash || url.href.includes('#')) return 'has a fragment';
  return 'has a path';
}

/** Whether what is sent there stays on this machine. */
export const isThisMachine = (origin: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(origin).hostname);
