import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgramResult } from '../process/process.ts';
import { type GitSetting, runGitProgram } from './git-program.ts';
import { userSettings } from './git-user.ts';

/** Git reported a failure. The message is the first relevant line of git's error output. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';
  readonly command: string;
  readonly code: number | null;
  /** True if git's output exceeded the limit. */
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
  /** True if the command only reads. It then takes no optional locks, because another git process might be waiting for them. */
  readonly reads?: boolean;
  /** Exit codes other than 0 that do not mean a failure. */
  readonly answers?: readonly number[];
  /** If false, the command is not repeated when another git process holds a lock, because the caller retries itself. */
  readonly patient?: boolean;
  /** Additional environment variables, such as the author of a commit. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** The configuration and network access of a git process. */
export interface GitWorld {
  readonly settings: readonly GitSetting[];
  /** The protocols that git may use, separated by colons, such as `https:ssh`. */
  readonly protocols: string;
  readonly env: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 32 * 1024 * 1024;
const WAITS_MS = [30, 60, 120, 250, 500, 1_000, 2_000];

/**
 * Commands that may run with the repository's own configuration. They never contact another machine, and they never read the files of a worktree (as writing
 * an index would), because that would run the filters in the configuration. All other commands go through `onFiles` (git-files.ts) or `remote.ts`, which do
 * not read the repository's configuration.
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
 * These settings override the repository's own configuration, so that the commands above never run a program that it contains. In a partial clone, git would
 * fetch missing objects; GIT_ALLOW_PROTOCOL prevents that, and no configuration can override it.
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

/** Runs git in a repository and returns its output. Put branch names and paths after `--` or `--end-of-options`. */
export async function git(repository: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await runGit(repository, args, options)).stdout;
}

export async function runGit(repository: string, args: readonly string[], options: GitOptions = {}): Promise<ProgramResult> {
  const [command = ''] = args;
  if (!WITH_ITS_CONFIGURATION.has(command)) throw new Error(`git ${command} would run with the repository's own configuration`);
  return await runGitIn({ settings: SETTINGS, protocols: 'none', env: {} }, repository, args, options);
}

/** Runs git with the given settings and network access. Used by `onFiles` and `remote.ts`. */
export async function runGitIn(world: GitWorld, folder: string, args: readonly string[], options: GitOptions): Promise<ProgramResult> {
  const run = async () => {
    const ran = await once(world, folder, args, options);
    if (ran.code === 0 || (ran.code !== null && options.answers?.includes(ran.code))) return ran;
    throw new GitFailed(args[0] ?? '', ran.code, firstLine(ran.stderr) || `git ${args[0]} ended with code ${ran.code}`);
  };
  return options.patient === false ? await run() : await retryWhileLocked(run, options.signal);
}

/** Repeats the work while another git process holds a lock. Use it only if a failed attempt leaves nothing half done. */
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
  // Truncated output is an error, because a caller could take it for "nothing found".
  if (ran.truncated) throw new GitFailed(args[0] ?? '', ran.code, `git ${args[0]} printed more than ${MAX_OUTPUT} bytes`, true);
  return ran;
}

/** Whether the message means that another git process holds a lock or is just writing the entry of a worktree. */
const isInTheWay = (message: string): boolean => /\.lock': File exists|already locked|could not lock|failed to read .*worktrees\/.*: Success/i.test(message);

/** Returns the first line that reports a failure, because git prints progress before it. */
function firstLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.find((text) => /^(fatal|error):/.test(text)) ?? lines.find((text) => text !== '') ?? '';
  return line.replace(/^(fatal|error):\s*/, '').slice(0, 500);
}

/** Throws unless git accepts the name as a branch name. Refuses options, `@{-1}` and paths outside refs/heads. */
export async function requireBranchName(repository: string, branch: string, options: GitOptions = {}): Promise<void> {
  const { code, stdout } = await runGit(repository, ['check-ref-format', '--branch', branch], { ...options, reads: true, answers: [1, 128] });
  if (code !== 0 || stdout.trim() !== branch) throw new GitFailed('check-ref-format', code, `${JSON.stringify(branch)} is not a valid branch name`);
}

/** Returns the commit of a full ref name or a hash, or null if it does not exist. */
export async function resolveCommit(repository: string, name: string, options: GitOptions = {}): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await runGit(repository, args, { ...options, reads: true, answers: [1] });
  return code === 0 ? stdout.trim() : null;
}

/** Returns the commit with this hash or abbreviated hash. A branch whose name looks like the hash is ignored. */
export async function commitByHash(repository: string, hash: string, options: GitOptions = {}): Promise<string | null> {
  const commit = await resolveCommit(repository, hash, options);
  return commit?.startsWith(hash.toLowerCase()) ? commit : null;
}
