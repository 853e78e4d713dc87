import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../testing/store/database.ts';
import { replaceFile } from './covibe-home.ts';

test('a file is not replaced by a part of the new text if the disk is full', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'ledger.json');
  replaceFile(path, 'whole');
  const program = `const { replaceFile } = await import(${JSON.stringify(join(import.meta.dirname, 'covibe-home.ts'))});
    try { replaceFile(${JSON.stringify(path)}, 'x'.repeat(1_000_000)); } catch (error) { console.log(error.code); }`;
  // Like a full disk: one write stores as much as fits, and only the next one fails.
  const limited = `trap '' XFSZ; ulimit -f 64; exec "$0" --input-type=module -e "$1"`;
  expect(execFileSync('sh', ['-c', limited, process.execPath, program], { encoding: 'utf8' })).toBe('EFBIG\n');
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['whole', ['ledger.json']]);
});
