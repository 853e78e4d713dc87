import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cliReference } from '../scripts/cli-reference.ts';

test('docs/cli.md matches the commands (npm run docs writes it)', async () => {
  expect(readFileSync(new URL('../docs/cli.md', import.meta.url), 'utf8')).toBe(await cliReference());
});

test('the table of contents of docs/cli.md links to its headings', async () => {
  const text = await cliReference();
  const headings = new Set(
    [...text.matchAll(/^#{2,4} (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^a-z0-9 _-]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
  const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter((link) => !headings.has(link))).toEqual([]);
});
