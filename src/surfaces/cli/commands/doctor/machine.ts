import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { check } from './check.ts';

const run = promisify(execFile);
const MIB = 1024 ** 2;
/** Below the one nothing can be relied on; below the other a day's work may not fit. */
const NO_ROOM = 64 * MIB;
const LITTLE_ROOM = 1024 * MIB;

export const node = check('node', ['NODE_TOO_OLD'], (say) => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > 22 || (major === 22 && minor >= 13);
  return isEnough
    ? say.ok(`Node ${process.versions.node}`)
    : say.failed('NODE_TOO_OLD', `Node ${process.versions.node} is too old`, 'install Node 22.13 or newer');
});

export const git = check('git', ['GIT_MISSING'], async (say, { env }) => {
  const version = await versionOf('git', ['--version'], env);
  return version === undefined ? say.warning('GIT_MISSING', 'git not found: worktrees and reviews will not work', 'install git') : say.ok(version);
});

export const tmux = check('tmux', ['TMUX_MISSING'], async (say, { env }) => {
  const version = await versionOf('tmux', ['-V'], env);
  return version === undefined ? say.warning('TMUX_MISSING', 'tmux not found: reviews run without attach', 'install tmux') : say.ok(version);
});

async function versionOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    return (await run(program, args, { env, timeout: 5_000 })).stdout.trim();
  } catch {
    return undefined;
  }
}

function isWritable(file: string): boolean {
  try {
    // Not by opening it: to close a second descriptor of a database ends the locks that this process has on it.
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export const disk = check('disk', ['DISK_FULL', 'STORE_UNWRITABLE'], (say, { home, config }) => {
  const database = config && !config.database_url ? config.database_path : undefined;
  const size = database !== undefined && existsSync(database) ? statSync(database).size : 0;
  const folders = [...new Set([home, tmpdir(), ...(database === undefined ? [] : [dirname(database), join(dirname(database), 'backups')])])];
  const found = folders.filter((folder) => existsSync(folder)).map((folder) => ({ folder, free: freeIn(folder) }));
  const troubles = found.flatMap(({ folder, free }) => {
    const level = roomLevel(free, folder === tmpdir() ? 0 : size);
    if (level === 'enough') return [];
    const message = `${folder} has ${Math.floor(free / MIB)} MiB left${level === 'no copy' ? `, and a copy of the database takes ${Math.ceil(size / MIB)}` : ''}`;
    const fix = 'make room there, or move it: COVENANT_HOME, database_path, TMPDIR';
    return [level === 'none' ? say.failed('DISK_FULL', message, fix) : say.warning('DISK_FULL', message, fix)];
  });
  if (database !== undefined && existsSync(database) && !isWritable(database))
    troubles.push(say.failed('STORE_UNWRITABLE', `${database} cannot be written`, 'give it to the user of the server, or mount its disk for writing'));
  return troubles.length > 0 ? troubles : say.ok(`there is room in ${found.map(({ folder }) => folder).join(', ')}`);
});

/** `copied`: what a backup, or the copy before a migration, would take there. */
export function roomLevel(free: number, copied: number): 'enough' | 'little' | 'no copy' | 'none' {
  if (free < NO_ROOM) return 'none';
  if (free < copied) return 'no copy';
  return free < LITTLE_ROOM ? 'little' : 'enough';
}

function freeIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export const repositories = check('repositories', ['REPOSITORIES_MISSING'], (say, { config }) => {
  const missing = (config?.machine.repositories ?? []).filter((folder) => !existsSync(folder));
  if (missing.length === 0) return say.ok('the folders of [machine] repositories are there');
  return missing.map((folder) =>
    say.warning(
      'REPOSITORIES_MISSING',
      `${folder} is in [machine] repositories and does not exist: no worktree is made below it`,
      'make it, or take it out of config.toml',
    ),
  );
});
