/** A remote's URL can contain a password or token, which must never reach a table. */
export const withoutCredentials = (repo: string): string => repo.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');

/** `git@github.com:acme/app.git`, `https://github.com/Acme/App` and `ssh://git@github.com:22/acme/app` name the same repository. */
function placeOf(repo: string): string[] {
  const bare = withoutCredentials(repo.trim())
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^[^/@:]+@/, '')
    .replace(/^([^/:]+):(?:\d+\/)?/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '');
  return bare.toLowerCase().split('/').filter(Boolean);
}

/**
 * Whether two addresses name the same repository. A short name does not match a full address, because callers overwrite data if
 * two addresses match.
 */
export const sameRepo = (a: string, b: string): boolean => placeOf(a).join('/') === placeOf(b).join('/');

/** For claims: a short name (`app`, `acme/app`) matches every repository whose address ends in it, so that no claim is missed. */
export function mayBeSameRepo(a: string, b: string): boolean {
  const [short, long] = [placeOf(a), placeOf(b)].sort((x, y) => x.length - y.length) as [string[], string[]];
  return short.length > 0 ? long.slice(-short.length).join('/') === short.join('/') : long.length === 0;
}

/** The short name of a repository: the last part of its path, address or name. */
export const repositoryName = (known: string): string =>
  known
    .replace(/[/\\]+$/, '')
    .replace(/\.git$/, '')
    .split(/[/\\:]/)
    .at(-1) || known;
