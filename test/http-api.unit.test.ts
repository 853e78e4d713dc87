import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The part of the page that lists the routes. */
const [, section = ''] = readFileSync('docs/http-api.md', 'utf8').split(/^## (?:Routes|Authentication)$/m);
const documented = [...section.matchAll(/^\| `([A-Z]+ \/[^`]*)` \|/gm)].map(([, route = '']) => route);

/** These routes match all other paths. They answer with 404 or serve the dashboard. */
const CATCH_ALL = ['ALL /api/*', 'GET *'];

function registered(): string[] {
  const routes = new Set<string>();
  for (const file of globSync('src/surfaces/http/*.ts', { exclude: ['**/*.test.ts'] })) {
    const text = readFileSync(file, 'utf8');
    const paths = new Map(Array.from(text.matchAll(/const (\w*PATH) = '([^']+)'/g), ([, name = '', path = '']) => [name, path]));
    // A route is registered with `routes.get('/path')`, or with a function `serve` that contains such a call.
    let served = '';
    for (const [, how = '', path = ''] of text.matchAll(/\b(routes\.(?:get|post|put|delete|all)|serve)\(('[^']+'|[A-Z_]+|path),/g)) {
      const method = how === 'serve' ? served : how.slice('routes.'.length);
      if (path === 'path') served = method;
      else routes.add(`${method.toUpperCase()} ${path.startsWith("'") ? path.slice(1, -1) : paths.get(path)}`);
    }
    // Handlers of sockets check the path of the URL themselves.
    if (/SocketRoute/.test(text) && paths.has('PATH')) routes.add(`GET ${paths.get('PATH')}`);
    const [, pattern] = /const PATH = \/\^(.+)\$\/;/.exec(text) ?? [];
    if (pattern) routes.add(`GET ${pattern.replaceAll('\\/', '/').replace('([^/]+)', ':id')}`);
  }
  for (const file of globSync('src/features/**/contract.ts')) {
    for (const [, route = ''] of readFileSync(file, 'utf8').matchAll(/^ {2}route: '([^']+)'/gm)) routes.add(route);
  }
  return [...routes].filter((route) => !CATCH_ALL.includes(route));
}

test('docs/http-api.md lists exactly the routes that the server registers', () => {
  const routes = registered();
  expect(routes.length).toBeGreaterThan(15);
  expect(documented.toSorted()).toEqual(routes.toSorted());
});
