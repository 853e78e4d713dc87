import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../src/testing/store/database.ts';
import { PACKAGE_ROOT } from '../src/version.ts';

test('a folder of clients named by the user is not modified: missing clients are reported, and nothing is installed or deleted', () => {
  const [folder, bin] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(folder, 'precious'), 'mine');
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\ntouch '${join(bin, 'installed')}'\n`);
  chmodSync(join(bin, 'npm'), 0o755);
  const env = { ...process.env, COVENANT_CLIENTS: folder, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const ran = spawnSync(process.execPath, [join(PACKAGE_ROOT, 'scripts/test-clients.ts'), '--help'], { env, encoding: 'utf8' });
  expect([ran.status, readdirSync(folder), readdirSync(bin)]).toEqual([1, ['precious'], ['npm']]);
  expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('mine');
  expect(ran.stderr).toMatch(/Claude Code [\d.]+, Codex [\d.]+, .*next: /s);
});
