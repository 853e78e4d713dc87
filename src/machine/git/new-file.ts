import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileDiff } from './diff.ts';

/** Of files that git does not know yet. */
const MAX_COUNTED = 500;
const COUNTED_BYTES = 1024 * 1024;
const SHOWN_BYTES = 8 * 1024 * 1024;
/** As far as git itself looks for a zero byte. */
const LOOKED_AT = 8_000;

/** `index`: of so many the lines are counted, of the others it is said that they are there. A path that ends in a slash is another repository. */
export async function newFile(folder: string, path: string, index: number): Promise<FileDiff> {
  const about = { path: path.replace(/\/$/, ''), before: null, added: null, removed: 0, binary: false, uncommitted: true } as const;
  if (path.endsWith('/')) return { ...about, change: 'repository', removed: null };
  const bytes = index < MAX_COUNTED ? await contentOf(join(folder, path), COUNTED_BYTES) : null;
  if (bytes === null) return { ...about, change: 'added' };
  return isBinary(bytes) ? { ...about, change: 'added', removed: null, binary: true } : { ...about, change: 'added', added: lineCount(bytes) };
}

/** All of its lines as new ones; null where it is too large, or gone. */
export async function newFilePatch(folder: string, path: string): Promise<string | null> {
  const bytes = await contentOf(join(folder, path), SHOWN_BYTES);
  if (bytes === null) return null;
  if (bytes.length === 0 || isBinary(bytes)) return '';
  const text = bytes.toString('utf8');
  const whole = text.endsWith('\n');
  const added = (whole ? text.slice(0, -1) : text).split('\n').map((line) => `+${line}`);
  return [`@@ -0,0 +1,${added.length} @@`, ...added, ...(whole ? [] : ['\\ No newline at end of file']), ''].join('\n');
}

/** Null where there is no such file, or more of it than `most`. A link is never followed: it is what it names. */
async function contentOf(path: string, most: number): Promise<Buffer | null> {
  try {
    if ((await lstat(path)).isSymbolicLink()) return Buffer.from(await readlink(path));
    // Opening a pipe that nobody writes to would wait for ever.
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await file.stat();
      return found.isFile() && found.size <= most ? await file.readFile() : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, LOOKED_AT).includes(0);

function lineCount(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === 10) count++;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? count + 1 : count;
}
