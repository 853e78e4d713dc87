import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../src/testing/programs/program.ts';
import { anchorsOf, linksOf, pages, pageText, proseOf } from './pages.ts';

/** The guides, which all have the same structure. */
const GUIDES = ['get-started', 'team-setup', 'concepts', 'team', 'workflows', 'gateway', 'cycles', 'reviews', 'instances'].map((name) => `docs/${name}.md`);

function faultOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), decodeURIComponent(path));
  if (!existsSync(target)) return `${page}: ${link}: no such file`;
  const file = relative(ROOT, target);
  if (anchor === undefined || statSync(target).isDirectory()) return;
  return anchorsOf(file).has(anchor) ? undefined : `${page}: ${link}: no such heading`;
}

test('every internal link resolves to an existing file and heading [use.docs.links]', () => {
  const faults = pages().flatMap((page) => linksOf(page).flatMap((link) => faultOf(page, link) ?? []));
  expect(faults).toEqual([]);
});

test('docs/README.md lists every page under docs/', () => {
  const listed = new Set(linksOf('docs/README.md').map((link) => join('docs', link.split('#')[0] as string)));
  const missing = pages().filter((page) => page.startsWith('docs/') && page !== 'docs/README.md' && !listed.has(page));
  expect(missing.filter((page) => !page.startsWith('docs/decisions/') || !listed.has('docs/decisions'))).toEqual([]);
});

test.each([...GUIDES, 'docs/README.md', 'docs/overlap.md', 'docs/agents.md'])('%s lists its headings before the first of them', (page) => {
  const text = pageText(page);
  const headings = [...proseOf(page).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  const contents = [...(text.split(/^## /m)[0] as string).matchAll(/^- \[(.+?)\]\(#/gm)].map(([, heading]) => heading);
  expect(contents).toEqual(headings);
});

const lengths = [['README.md', 200], ['docs/agents.md', 250], ...GUIDES.map((page) => [page, 150] as const)] as [page: string, lines: number][];

test.each(lengths)('%s has at most %i lines', (page, most) => {
  expect(pageText(page).split('\n').length - 1).toBeLessThanOrEqual(most);
});

test('the guide for agents contains no links to other pages, because the server also serves it on its own', () => {
  expect(linksOf('docs/agents.md').filter((link) => !link.startsWith('#'))).toEqual([]);
});
