const HERE = 'http://here';

/** A page of this server, whatever was asked for: a link must not lead elsewhere. */
export function localPath(asked: string | undefined): string {
  if (!asked?.startsWith('/')) return '/';
  const url = URL.parse(asked, HERE);
  return url?.origin === HERE ? `${url.pathname}${url.search}${url.hash}` : '/';
}
