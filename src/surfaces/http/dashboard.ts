import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';

export interface StaticFiles {
  /**
   * Returns the file at `path`. If the path does not look like a file, returns the
   * page. Returns undefined if the file is missing or the dashboard is not built.
   */
  file(path: string, accepted?: string | undefined): Promise<Response | undefined>;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};

/** The headers forbid other origins, inline code and frames. They also turn off the referrer, because the URL of a sign-in link is a secret. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

/**
 * Returns whether a path looks like a built file. Built files are at the top level and
 * in `assets`. In other paths a dot is part of a name, as in `/agents/codex@j.doe`.
 */
const isFilePath = (path: string): boolean => extname(path) !== '' && /^\/(assets\/.*|[^/]*)$/.test(path);

export const DASHBOARD_FOLDER = join(PACKAGE_ROOT, 'dist/web/');

export function createDashboard(folder: string = DASHBOARD_FOLDER): StaticFiles {
  return {
    async file(path, accepted = '') {
      const wanted = isFilePath(path) ? path : '/index.html';
      const full = normalize(join(folder, wanted));
      if (!full.startsWith(normalize(folder + sep).replace(/[/\\]+$/, sep))) return undefined;
      try {
        const packed = wanted.startsWith('/assets/') && /\bgzip\b/.test(accepted) ? await readFile(`${full}.gz`).catch(() => undefined) : undefined;
        const bytes = packed ?? (await readFile(full));
        // The name of a file in `assets` contains its hash, so the file can be cached. The page that refers to these files must not be cached.
        const caching = wanted.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store';
        return new Response(new Uint8Array(bytes), {
          headers: {
            ...PAGE_HEADERS,
            'content-type': TYPES[extname(full)] ?? 'application/octet-stream',
            'cache-control': caching,
            vary: 'accept-encoding',
            ...(packed && { 'content-encoding': 'gzip' }),
          },
        });
      } catch {
        return undefined;
      }
    },
  };
}
