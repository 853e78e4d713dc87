import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { hasProgram } from './find-program.ts';

test('finds a program like the system does: in the folders of PATH, executable, and not a folder', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'runs'), '', { mode: 0o755 });
  writeFileSync(join(folder, 'does-not'), '', { mode: 0o644 });
  mkdirSync(join(folder, 'folder'));
  const env = { PATH: ['/no/such/folder', '', folder].join(delimiter) };
  expect(['runs', 'does-not', 'folder', 'none', ''].map((name) => hasProgram(name, env))).toEqual([true, false, false, false, false]);
  expect([join(folder, 'runs'), join(folder, 'does-not'), '/no/such'].map((path) => hasProgram(path, {}))).toEqual([true, false, false]);
  // The folder it is started in does not exist yet.
  expect(hasProgram('./tools/agent', {})).toBe(true);
  writeFileSync(join(folder, 'tool.CMD'), '', { mode: 0o755 });
  expect(hasProgram('tool', { PATH: folder, PATHEXT: '.EXE;.CMD' }, 'win32')).toBe(true);
});
