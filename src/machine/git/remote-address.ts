import type { AddressRewrite } from './git-user.ts';

/** The host and repository of a remote address. */
export interface RemoteRepository {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
}

/**
 * Parses addresses such as `https://host/owner/repo.git`, `ssh://git@host/owner/repo` and `git@host:owner/repo.git`. Returns null for any other address, such
 * as a folder.
 */
export function readRemote(address: string): RemoteRepository | null {
  const url = /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(address);
  const scp = /^(?:[^@/:]+@)?([^/:]+):([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(address);
  const [, host, owner, repo] = url ?? scp ?? [];
  // Names such as `..` are refused, because the names become part of a path in API calls.
  const isName = (part: string | undefined): part is string => part !== undefined && /^(?!\.{1,2}$)[\w.-]+$/.test(part);
  return host && isName(owner) && isName(repo) ? { host, owner, repo } : null;
}

const SCHEMES = ['https:', 'ssh:'];

/** Whether the address uses https or ssh. For any other address, git might run a program other than ssh. */
export function isSafeAddress(address: string): boolean {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(address);
  const isFine = isUrl
    ? URL.canParse(address) && SCHEMES.includes(new URL(address).protocol) && isHost(new URL(address).hostname)
    : isHost(readRemote(address)?.host);
  return isFine && !/[\p{Cc}\s]/u.test(address);
}

/** A host must not begin with a dash, because ssh would treat it as an option. */
const isHost = (host: string | undefined): boolean => host !== undefined && host !== '' && !host.startsWith('-');

/** Applies the user's `insteadOf` rules to the address. If several rules match, the longest one is used. */
export function rewrittenAddress(address: string, rewrites: readonly AddressRewrite[], way: 'fetch' | 'push'): string {
  const longest = (pushOnly: boolean) =>
    rewrites
      .filter((one) => one.pushOnly === pushOnly && address.startsWith(one.from))
      .reduce<AddressRewrite | undefined>((best, one) => (best && best.from.length >= one.from.length ? best : one), undefined);
  const rule = (way === 'push' ? longest(true) : undefined) ?? longest(false);
  return rule === undefined ? address : `${rule.to}${address.slice(rule.from.length)}`;
}

/** Returns the value of GIT_ALLOW_PROTOCOL, which prevents git from using any other protocol. */
export function protocolOf(url: string): string {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url) ?? [];
  if (scheme !== undefined) return scheme.toLowerCase();
  return /^[^/]*:/.test(url) ? 'ssh' : 'file';
}

/** Removes passwords from addresses in a text. */
export const withoutPasswords = (text: string): string => text.replaceAll(/\/\/[^/\s]*@/g, '//');
