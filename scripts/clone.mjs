// Determines whether the install and the build of this clone are up to date. Plain JavaScript, because it runs before anything is installed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const installNote = join(root, 'node_modules', '.covenant-install');
export const buildNote = join(root, 'dist', '.covenant-build');

const TESTS = /\.test\.tsx?$|^src[/\\]testing$/;

export const lockFileHash = () => sha256(readFileSync(join(root, 'package-lock.json')));

/** Returns a hash of all files that the build reads. Tests are excluded, so that a changed test does not cause a new build. */
export function sourceHash() {
  const hash = createHash('sha256');
  const visit = (path) => {
    const full = join(root, path);
    if (!existsSync(full) || TESTS.test(path)) return;
    if (statSync(full).isDirectory()) for (const name of readdirSync(full).sort()) visit(join(path, name));
    else hash.update(`${path}\0`).update(readFileSync(full));
  };
  for (const path of ['src', 'web', 'tsconfig.json', 'package-lock.json', 'package.json', 'scripts/build.mjs', 'scripts/shipped.mjs']) visit(path);
  return hash.digest('hex');
}

export const noted = (path) => (existsSync(path) ? readFileSync(path, 'utf8').trim() : '');

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
