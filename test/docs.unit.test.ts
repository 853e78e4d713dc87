import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../src/testing/programs/program.ts';
import { anchorsOf, linksOf, pages, pageText } from './pages.ts';

/** The guides, which share one shape. */
const GUIDES = ['get-started', 'team-setup', 'concepts', 'team', 'workflows', 'gateway', 'cycles', 'reviews'].map((name) => `docs/${name}.md`);

function faultOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), decodeURIComponent(path));
  if (!existsSync(target)) return `${page}: ${link}: no such file`;
  const file = relative(ROOT, target);
  if (anchor === undefined || statSync(target).isDirectory()) return;
  return anchorsOf(file).has(anchor) ? undefined : `${page}: ${link}: no such heading`;
}

test('every internal link of every page leads to a file and a heading that exist [use.docs.links]', () => {
  const faults = pages().flatMap((page) => linksOf(page).flatMap((link) => faultOf(page, link) ?? []));
  expect(faults).toEqual([]);
});

test('docs/README.md lists every page under docs/', () => {
  const listed = new Set(linksOf('docs/README.md').map((link) => join('docs', link.split('#')[0] as string)));
  const missing = pages().filter((page) => page.startsWith('docs/') && page !== 'docs/README.md' && !listed.has(page));
  expect(missing.filter((page) => !page.startsWith('docs/decisions/') || !listed.has('docs/decisions'))).toEqual([]);
});

test.each(GUIDES)('%s is short and begins with what the reader will have, then its contents', (page) => {
  const text = pageText(page);
  expect(text.split('\n').length - 1).toBeLessThanOrEqual(150);
  const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  const contents = [...(text.split(/^## /m)[0] as string).matchAll(/^- \[(.+?)\]\(#/gm)].map(([, heading]) => heading);
  expect(contents).toEqual(sections);
});

test('the README has at most 200 lines, and the agents’ guide at most 250 without a relative link', () => {
  expect(pageText('README.md').split('\n').length - 1).toBeLessThanOrEqual(200);
  expect(pageText('docs/agents.md').split('\n').length - 1).toBeLessThanOrEqual(250);
  expect(linksOf('docs/agents.md').filter((link) => !link.startsWith('#'))).toEqual([]);
});
