/** Installs npm packages that only benchmarks and tests need. Each set of packages is installed once, into the user's cache folder instead of the project. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, platform } from 'node:os';
import { join } from 'node:path';
import { readJson } from '../src/wire/covibe-home.ts';
import { recordIn } from '../src/wire/json.ts';

/** An install that hangs is stopped after this time, so that it does not block the run. */
const INSTALL_MS = 10 * 60_000;

/** Package names with their versions. */
export type Versions = Readonly<Record<string, string>>;

/** Installs into a temporary folder and renames it at the end, so that `folder` never contains half an install. `ownScripts` also runs the packages' install scripts. */
export function installInto(folder: string, dependencies: Versions, { ownScripts = false, shown = false } = {}): void {
  const beside = `${folder}.${process.pid}`;
  mkdirSync(beside, { recursive: true });
  try {
    const allowScripts = ownScripts && Object.fromEntries(Object.keys(dependencies).map((name) => [name, true]));
    writeFileSync(join(beside, 'package.json'), JSON.stringify({ private: true, dependencies, ...(allowScripts && { allowScripts }) }));
    const args = ['install', ...(ownScripts ? [] : ['--ignore-scripts', '--omit=optional']), '--no-audit', '--no-fund', '--loglevel=error'];
    const stdio = shown ? ('inherit' as const) : ['ignore' as const, 'ignore' as const, 'pipe' as const];
    const { status, stderr, error } = spawnSync('npm', args, { cwd: beside, encoding: 'utf8', stdio, timeout: INSTALL_MS });
    if (status !== 0) throw new Error(error?.message ?? firstReason(stderr ?? ''));
    rmSync(folder, { recursive: true, force: true });
    renameSync(beside, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

export const isInstalled = (folder: string, name: string, version: string): boolean =>
  recordIn(readJson(join(folder, 'node_modules', name, 'package.json'))).version === version;

export function cacheFolder(): string {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME;
  return platform() === 'darwin' ? join(homedir(), 'Library/Caches') : join(homedir(), '.cache');
}

const firstReason = (stderr: string): string =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm error\s*/, '').trim())
    .find((line) => line.includes(' ') && !line.startsWith('code ')) ?? 'no reason given';
