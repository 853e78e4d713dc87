import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { createDashboard } from './dashboard.ts';

const built = () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), 'the page');
  writeFileSync(join(folder, 'favicon.svg'), 'the icon');
  writeFileSync(join(folder, 'assets/main-1.js'), 'the program');
  const dashboard = createDashboard(`${folder}/`);
  return async (path: string) => (await dashboard.file(path))?.text();
};

test('serves the page for a deep link, even if a name in the link contains a dot', async () => {
  const served = built();
  for (const path of ['/', '/agents', '/agents/codex@mira', '/agents/codex@j.doe', '/people/j.js', '/pulls/acme.org/shop.git/7'])
    expect([path, await served(path)]).toEqual([path, 'the page']);
});

test('serves an existing file, and does not serve the page instead of a missing file', async () => {
  const served = built();
  expect(await served('/favicon.svg')).toBe('the icon');
  expect(await served('/assets/main-1.js')).toBe('the program');
  expect(await served('/favicon.ico')).toBeUndefined();
  expect(await served('/assets/main-0.js')).toBeUndefined();
  expect(await served('/assets/../../secret.txt')).toBeUndefined();
});
