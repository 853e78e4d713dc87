import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/store/database.ts';
import { nearest, real } from './paths.ts';

test('what does not exist yet is real by the nearest folder that does', () => {
  const folder = realpathSync(temporaryFolder());
  mkdirSync(join(folder, 'src'));
  symlinkSync('src', join(folder, 'linked'));
  symlinkSync('nowhere', join(folder, 'broken'));
  expect(nearest(join(folder, 'src/new/a.ts'))).toBe(join(folder, 'src'));
  expect(nearest(join(folder, 'src'))).toBe(join(folder, 'src'));
  expect(nearest('/')).toBe('/');
  expect(real(join(folder, 'linked/new/a.ts'))).toBe(join(folder, 'src/new/a.ts'));
  expect(real(join(folder, 'broken/a.ts'))).toBe(join(folder, 'broken/a.ts'));
  expect(real('/no such folder/a')).toBe('/no such folder/a');
});
