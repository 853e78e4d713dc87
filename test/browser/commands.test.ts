import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { ROOT, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryRepository } from '../../src/testing/scenes/repository.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { router } from '../../web/router.tsx';
import { openBrowser, signedIn } from './browser.ts';
import { faultOf } from './known-command.ts';

// The test uses only the addresses of the router. The components are replaced, because they need a browser.
vi.mock('../../web/shell/shell.tsx', () => ({ Shell: () => null }));
openBrowser();

/** Commands that the test checks but does not run, because they take a minute or start a program that is not installed on test machines. */
const NOT_RUN = ['covenant demo', 'covenant instances start'];

test('copies, validates and runs every command that the pages of an empty server show', { timeout: 120_000 }, async () => {
  const { page, url } = await signedIn('/', { permissions: ['clipboard-read', 'clipboard-write'] });
  const shown = new Set<string>();
  const addresses = Object.keys(router.routesByPath).filter((path) => !path.includes('$'));
  for (const path of [...addresses, '/settings/agents/codex']) {
    await page.goto(url + path);
    await page.locator('header').getByText('Live').waitFor();
    await page.waitForFunction(() => !document.querySelector('[aria-label=Loading], .skeleton'));
    for (const text of await copied(page)) shown.add(text);
  }
  const companion = [...shown].filter((text) => text.startsWith('npm exec -- covibe-local '));
  expect(companion.toSorted()).toEqual(['setup', 'watch'].map((name) => `npm exec -- covibe-local ${name} --base-url ${url}`));
  for (const [name = ''] of companion.map((text) => text.split(' ').slice(4))) {
    const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'dist/bin/covibe-local.js'), name, '--help']);
    expect(stdout).toContain('--base-url');
  }
  const commands = [...shown].filter((text) => text.startsWith('covenant '));
  expect(commands.length).toBeGreaterThanOrEqual(15);
  expect(commands.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
  const home = temporaryFolder();
  await startProgram({ home });
  const run = shellOf(home);
  const failed: string[] = [];
  for (const command of commands.filter((text) => !NOT_RUN.some((name) => text.startsWith(name)))) {
    await run(command).catch((error: { stdout?: string; stderr?: string }) => failed.push(`${command}: ${error.stderr}${error.stdout}`));
  }
  expect(failed).toEqual([]);
});

/** Clicks every copy button of the page and returns the copied texts. */
async function copied(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  const texts: string[] = [];
  // A button that was pressed shows "Copied" for a moment, and must still match.
  for (const button of await page
    .locator('main')
    .getByRole('button', { name: /^Cop(y|ied)/ })
    .all()) {
    const words = await button.locator('xpath=../preceding-sibling::*[1]').evaluate((element) => element.textContent ?? '');
    await button.click();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toBe(words);
    texts.push(text);
  }
  return texts;
}

/** Returns a shell whose PATH contains the built command. It runs in a repository. */
function shellOf(home: string) {
  const folder = join(temporaryFolder(), 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'covenant'), `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'dist/bin/covenant.js')}' "$@"\n`, { mode: 0o755 });
  const { path: cwd } = temporaryRepository();
  const env = { ...process.env, COVENANT_HOME: home, HOME: home, PATH: `${folder}:${process.env.PATH}` };
  return (command: string) => promisify(execFile)('sh', ['-c', command], { cwd, env });
}
