const HERE = 'http://here';

/** Restricts a redirect target to this server: a sign-in link must not lead to another site. */
export function localPath(asked: string | undefined): string {
  if (!asked?.startsWith('/')) return '/';
  const url = URL.parse(asked, HERE);
  return url?.origin === HERE ? `${url.pathname}${url.search}${url.hash}` : '/';
}
