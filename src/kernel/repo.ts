/** A remote's URL can carry a password or token, which must not get as far as a table. */
export const withoutCredentials = (repo: string): string => repo.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');

/** `git@github.com:acme/app.git`, `https://github.com/Acme/App` and `ssh://git@github.com:22/acme/app` are one place. */
function placeOf(repo: string): string[] {
  const bare = withoutCredentials(repo.trim())
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^[^/@:]+@/, '')
    .replace(/^([^/:]+):(?:\d+\/)?/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '');
  return bare.toLowerCase().split('/').filter(Boolean);
}

/** By whichever of its addresses, and no shorter name: what follows from it replaces something. */
export const sameRepo = (a: string, b: string): boolean => placeOf(a).join('/') === placeOf(b).join('/');

/** A short name (`app`, `acme/app`) may mean any repository whose place ends in it: a claim is safe, or it is none. */
export function mayBeSameRepo(a: string, b: string): boolean {
  const [short, long] = [placeOf(a), placeOf(b)].sort((x, y) => x.length - y.length) as [string[], string[]];
  return short.length > 0 ? long.slice(-short.length).join('/') === short.join('/') : long.length === 0;
}

/** What people call a repository, whether it is known by a path, an address or a name: the last part. */
export const repositoryName = (known: string): string =>
  known
    .replace(/[/\\]+$/, '')
    .replace(/\.git$/, '')
    .split(/[/\\:]/)
    .at(-1) || known;
