import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../../../config.ts';
import type { Orphan } from '../../../../features/review/instances/contract.ts';
import { shellQuoted } from '../../../../wire/shell-quoted.ts';
import { call } from '../../call.ts';
import { findServer } from '../../client.ts';
import { type Invocation, option } from '../../command.ts';
import { check, type DoctorFinding, errorText, type Say } from './check.ts';

const run = promisify(execFile);
const MIB = 1024 ** 2;
/** If less space than NO_ROOM is free, writes fail. If less than LITTLE_ROOM is free, there may not be enough space for the data of one day. */
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
  return version === undefined ? say.warning('GIT_MISSING', 'git was not found: worktrees and reviews do not work', 'install git') : say.ok(version);
});

export const tmux = check('tmux', ['TMUX_MISSING'], async (say, { env }) => {
  const version = await versionOf('tmux', ['-V'], env);
  return version === undefined
    ? say.warning('TMUX_MISSING', 'tmux was not found: agents run without a terminal to attach to', 'install tmux')
    : say.ok(version);
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
    // Checks the permission without opening the file. Closing a second file descriptor of a database would release the locks of this process.
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
    const message = `${folder} has ${Math.floor(free / MIB)} MiB left${level === 'no copy' ? `, and a copy of the database takes ${Math.ceil(size / MIB)} MiB` : ''}`;
    const fix = 'free some space there, or change the setting that determines the folder: COVENANT_HOME, database_path or TMPDIR';
    return [level === 'none' ? say.failed('DISK_FULL', message, fix) : say.warning('DISK_FULL', message, fix)];
  });
  if (database !== undefined && existsSync(database) && !isWritable(database))
    troubles.push(
      say.failed(
        'STORE_UNWRITABLE',
        `${database} is not writable`,
        `give it to the account of the server (chown USER ${database}), or mount its disk for writing`,
      ),
    );
  return troubles.length > 0 ? troubles : say.ok(`enough space in ${found.map(({ folder }) => folder).join(', ')}`);
});

/** Rates the free space. `copied` is the size of the copy of the database that a backup or a migration makes. */
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
  if (missing.length === 0) return say.ok('the folders in [machine] repositories exist');
  return missing.map((folder) =>
    say.warning(
      'REPOSITORIES_MISSING',
      `${folder} is in [machine] repositories and does not exist, so no worktree can be made in it`,
      `mkdir -p ${shellQuoted(folder)}, or remove it from config.toml`,
    ),
  );
});

/** Reports sessions and worktrees that belong to no instance. With --fix, ends these sessions and removes these worktrees. */
export const agents = check('agents', ['AGENTS_LEFT'], async (say, { invocation }) => {
  if (!(await hasStore(invocation))) return say.skipped('this home has never started an agent');
  const isFixing = invocation.values.fix === true;
  try {
    const findings = isFixing ? await cleared(say, invocation) : (await call(invocation, 'instances.orphans')).items.map((orphan) => left(say, orphan));
    return findings.length > 0 ? findings : say.ok('agents left no sessions or worktrees behind');
  } catch (error) {
    // If the database cannot be opened, another check reports that. With --fix, this check must fail too, to show why it removed nothing.
    if (isFixing) throw error;
    return say.skipped(`could not look for sessions and worktrees that agents left behind: ${errorText(error)}`);
  }
});

/** Whether a server or a database exists. A check must not create a database, and a home without a database has no instances anyway. */
async function hasStore({ env }: Invocation): Promise<boolean> {
  if (await findServer(env)) return true;
  try {
    const { database_url, database_path } = loadConfig(env);
    return database_url !== undefined || existsSync(database_path);
  } catch {
    return false;
  }
}

const left = (say: Say<'AGENTS_LEFT'>, orphan: Orphan, kept = ''): DoctorFinding =>
  say.warning('AGENTS_LEFT', `${inWords(orphan)}${kept}${because(orphan)}`, remedy(orphan));

async function cleared(say: Say<'AGENTS_LEFT'>, invocation: Invocation): Promise<DoctorFinding[]> {
  const force = option(invocation, 'force');
  const { items } = await call(invocation, 'instances.clear_orphans', force === undefined ? {} : { force: resolve(invocation.cwd, force) });
  return items.map((orphan) => {
    if (!orphan.cleared) return left(say, orphan, ': kept');
    const kept = orphan.backup_ref === null ? '' : `; its backup is ${orphan.backup_ref}`;
    return { check: 'agents', state: 'fixed', message: `${inWords(orphan)}: ${orphan.kind === 'session' ? 'ended' : `removed${kept}`}` };
  });
}

const inWords = ({ kind, name, path }: Orphan): string =>
  kind === 'session' ? `session ${name} is running without an instance` : `worktree ${path} exists without an instance`;

const because = ({ reason }: Orphan): string => (reason === null ? '' : `, because ${reason}`);

const remedy = ({ command }: Orphan): string => (command === null ? 'remove it by hand, then run covenant doctor --fix' : command.map(shellQuoted).join(' '));
