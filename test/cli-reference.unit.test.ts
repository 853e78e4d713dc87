import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cliReference } from '../scripts/cli-reference.ts';

test('docs/cli.md matches the commands (npm run docs writes it) [use.docs.generated]', async () => {
  expect(readFileSync(new URL('../docs/cli.md', import.meta.url), 'utf8')).toBe(await cliReference());
});
