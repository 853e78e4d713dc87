import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgramResult } from '../process/process.ts';
import { type GitSetting, runGitProgram } from './git-program.ts';
import { userSettings } from './git-user.ts';

/** Git said no. The message is the first line of what it said. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';
  readonly command: string;
  readonly code: number | null;
  /** It said more than is read of it. */
  readonly tooMuch: boolean;

  constructor(command: string, code: number | null, message: string, tooMuch = false) {
    super(message);
    this.command = command;
    this.code = code;
    this.tooMuch = tooMuch;
  }
}

export interface GitOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** Only looks: takes no lock that another git in the same repository might be waiting for. */
  readonly reads?: boolean;
  /** Exit codes besides 0 that are an answer and no failure. */
  readonly answers?: readonly number[];
  /** False: the caller itself tries again where another git is in the way. */
  readonly patient?: boolean;
  /** Who commits, for instance. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Which configuration and network a git has. */
export interface GitWorld {
  readonly settings: readonly GitSetting[];
  /** Protocols that it may speak, as in `https:ssh`. */
  readonly protocols: string;
  readonly env: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 32 * 1024 * 1024;
const WAITS_MS = [30, 60, 120, 250, 500, 1_000, 2_000];

/**
 * Commands that may run with a repository's own configuration. None of them looks into the files of a worktree, where filters would run (whoever
 * writes an index does), or talks to another machine. What does goes through `onFiles` (git-files.ts) or `remote.ts`, where that configuration is not read at all.
 */
const WITH_ITS_CONFIGURATION = new Set([
  'cat-file',
  'check-ref-format',
  'commit-tree',
  'config',
  'diff-index',
  'diff-tree',
  'for-each-ref',
  'hash-object',
  'log',
  'ls-files',
  'ls-tree',
  'merge-base',
  'mktree',
  'remote',
  'rev-list',
  'rev-parse',
  'symbolic-ref',
  'update-ref',
  'worktree',
]);

/**
 * Settings that a repository's own configuration cannot undo: it names no program for any of the commands above. A fetch of an object that a
 * partial clone lacks is stopped by GIT_ALLOW_PROTOCOL, which no configuration undoes.
 */
const SETTINGS: readonly GitSetting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  ['core.attributesFile', '/dev/null'],
  ['core.alternateRefsCommand', 'true'],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['log.showSignature', 'false'],
  ['gpg.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.openpgp.program', 'false'],
  ['protocol.allow', 'never'],
  ['protocol.ext.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['status.showUntrackedFiles', 'normal'],
];

/** Runs git in a repository; what it printed. Names of branches and paths belong behind `--` or `--end-of-options`. */
export async function git(repository: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await runGit(repository, args, options)).stdout;
}

export async function runGit(repository: string, args: readonly string[], options: GitOptions = {}): Promise<ProgramResult> {
  const [command = ''] = args;
  if (!WITH_ITS_CONFIGURATION.has(command)) throw new Error(`git ${command} would run with the repository's own configuration`);
  return await runGitIn({ settings: SETTINGS, protocols: 'none', env: {} }, repository, args, options);
}

/** For this folder's other ways of running git: `onFiles` and `remote.ts`. */
export async function runGitIn(world: GitWorld, folder: string, args: readonly string[], options: GitOptions): Promise<ProgramResult> {
  const run = async () => {
    const ran = await once(world, folder, args, options);
    if (ran.code === 0 || (ran.code !== null && options.answers?.includes(ran.code))) return ran;
    throw new GitFailed(args[0] ?? '', ran.code, firstLine(ran.stderr) || `git ${args[0]} ended with code ${ran.code}`);
  };
  return options.patient === false ? await run() : await retryWhileLocked(run, options.signal);
}

/** Does it again where another git was in the way. Not for what leaves half of itself behind, unless it also takes that over. */
export async function retryWhileLocked<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const wait = WAITS_MS[attempt];
      if (wait === undefined || !(error instanceof GitFailed) || !isInTheWay(error.message)) throw error;
      await sleep(wait * (0.5 + Math.random()), undefined, signal ? { signal } : {});
    }
  }
}

async function once(world: GitWorld, folder: string, args: readonly string[], options: GitOptions): Promise<ProgramResult> {
  const { signal, timeoutMs = TIMEOUT_MS, reads = false, input } = options;
  const { local } = await userSettings();
  const env = { GIT_ALLOW_PROTOCOL: world.protocols, ...options.env, ...world.env };
  const line = [...(reads ? ['--no-optional-locks'] : []), '-C', folder, ...args];
  const ran = await runGitProgram(line, { cwd: tmpdir(), env, settings: [...local, ...world.settings], timeoutMs, signal, input, maxOutputBytes: MAX_OUTPUT });
  // Half an answer could be read as "nothing there".
  if (ran.truncated) throw new GitFailed(args[0] ?? '', ran.code, `git ${args[0]} said more than ${MAX_OUTPUT} bytes`, true);
  return ran;
}

/** Another git holds a lock, or is just writing down a worktree of which it can read only half. */
const isInTheWay = (message: string): boolean => /\.lock': File exists|already locked|could not lock|failed to read .*worktrees\/.*: Success/i.test(message);

/** The first that is a failure: before it git tells what it is about to do. */
function firstLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.find((text) => /^(fatal|error):/.test(text)) ?? lines.find((text) => text !== '') ?? '';
  return line.replace(/^(fatal|error):\s*/, '').slice(0, 500);
}

/** A name that git takes for a branch and for nothing else: no option, no `@{-1}`, no path out of refs/heads. */
export async function requireBranchName(repository: string, branch: string, options: GitOptions = {}): Promise<void> {
  const { code, stdout } = await runGit(repository, ['check-ref-format', '--branch', branch], { ...options, reads: true, answers: [1, 128] });
  if (code !== 0 || stdout.trim() !== branch) throw new GitFailed('check-ref-format', code, `${JSON.stringify(branch)} is not a valid branch name`);
}

/** The commit that a full ref name or a hash stands for; null if there is none. */
export async function resolveCommit(repository: string, name: string, options: GitOptions = {}): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await runGit(repository, args, { ...options, reads: true, answers: [1] });
  return code === 0 ? stdout.trim() : null;
}

/** The commit with this hash, or this beginning of one. A branch that is called like a hash is not meant. */
export async function commitByHash(repository: string, hash: string, options: GitOptions = {}): Promise<string | null> {
  const commit = await resolveCommit(repository, hash, options);
  return commit?.startsWith(hash.toLowerCase()) ? commit : null;
}
