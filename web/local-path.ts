const HERE = 'http://here';

/** Returns the path if it is on this server. A sign-in link must not redirect to another site. */
export function localPath(asked: string | undefined): string {
  if (!asked?.startsWith('/')) return '/';
  const url = URL.parse(asked, HERE);
  return url?.origin === HERE ? `${url.pathname}${url.search}${url.hash}` : '/';
}
