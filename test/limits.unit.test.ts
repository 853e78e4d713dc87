import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIMITS, loadConfig } from '../src/config.ts';
import { temporaryFolder } from '../src/testing/store/database.ts';

test('docs/operations.md lists every limit of [limits] with its default [harden.limits.config]', () => {
  const rows = [...readFileSync('docs/operations.md', 'utf8').matchAll(/^\| `([a-z_]+)` \| (\d+) \|/gm)].map(([, name = '', value]) => [name, Number(value)]);
  expect(Object.fromEntries(rows)).toEqual(LIMITS.parse({}));
});

test('config.toml sets one limit and leaves the others at their defaults; the error for an unknown or invalid limit names the limit [harden.limits.config]', () => {
  const home = temporaryFolder();
  const load = (text: string) => {
    writeFileSync(join(home, 'config.toml'), text);
    return loadConfig({ COVENANT_HOME: home }).limits;
  };
  expect(load('[limits]\ntoken_burst = 7\n')).toEqual({ ...LIMITS.parse({}), token_burst: 7 });
  expect(load('')).toEqual(LIMITS.parse({}));
  expect(() => load('[limits]\ntoken_brust = 7\n')).toThrow('limits.token_brust');
  expect(() => load('[limits]\ntoken_burst = 0\n')).toThrow('limits.token_burst');
});
