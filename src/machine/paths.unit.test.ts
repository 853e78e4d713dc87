import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/store/database.ts';
import { nearestExisting, realPathOf } from './paths.ts';

test('resolves a missing path through its nearest existing folder', () => {
  const folder = realpathSync(temporaryFolder());
  mkdirSync(join(folder, 'src'));
  symlinkSync('src', join(folder, 'linked'));
  symlinkSync('nowhere', join(folder, 'broken'));
  expect(nearestExisting(join(folder, 'src/new/a.ts'))).toBe(join(folder, 'src'));
  expect(nearestExisting(join(folder, 'src'))).toBe(join(folder, 'src'));
  expect(nearestExisting('/')).toBe('/');
  expect(realPathOf(join(folder, 'linked/new/a.ts'))).toBe(join(folder, 'src/new/a.ts'));
  expect(realPathOf(join(folder, 'broken/a.ts'))).toBe(join(folder, 'broken/a.ts'));
  expect(realPathOf('/no such folder/a')).toBe('/no such folder/a');
});
