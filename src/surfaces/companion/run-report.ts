import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { git } from '../../machine/git/git.ts';
import { gitOnFiles } from '../../machine/git/git-files.ts';
import type { HookQuestion } from '../../wire/hook-question.ts';

type GitState = Pick<HookQuestion, 'dirty_files' | 'unpushed_files' | 'unpushed_commits'>;

/** An agent's program waits for it. */
const TIMEOUT_MS = 2_000;
/** The server takes no more. */
const MAX_FILES = 5_000;
const MAX_COMMITS = 1_000;

/** What is not committed and not pushed. No program that the repository names is run; what git cannot say, or not in time, is left out. */
export async function gitState(root: string): Promise<GitState> {
  const options = { reads: true, patient: false, timeoutMs: TIMEOUT_MS } as const;
  try {
    const [status, unpushed] = await Promise.all([
      gitOnFiles(root, ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=all'], options),
      notPushed(root, options),
    ]);
    return { dirty_files: files(status.split('\0').map((entry) => entry.slice(3))), ...unpushed };
  } catch {
    return {};
  }
}

type Looking = { readonly timeoutMs: number; readonly reads: true; readonly patient: false };

/** Nothing where there is no remote to push to, or no commit yet. */
async function notPushed(root: string, looking: Looking): Promise<GitState> {
  const remotes = await git(root, ['remote'], looking);
  if (remotes.trim() === '') return {};
  const range = ['HEAD', '--not', '--remotes', '--'];
  try {
    const [count, names] = await Promise.all([
      git(root, ['rev-list', '--count', `--max-count=${MAX_COMMITS}`, ...range], looking),
      git(root, ['log', '-z', '--format=', '--name-only', '--no-renames', '--no-ext-diff', '--no-textconv', `--max-count=${MAX_COMMITS}`, ...range], looking),
    ]);
    return { unpushed_commits: Number(count), unpushed_files: files(names.split('\0')) };
  } catch {
    return {};
  }
}

const files = (names: readonly string[]): string[] => [...new Set(names.map((name) => name.replace(/^\n+/, '')))].filter(isFile).slice(0, MAX_FILES);

const isFile = (name: string): boolean => name !== '' && name.length <= 500 && !name.endsWith('/');

interface Run {
  /** Claude Code's own record of the run: only counters are taken from it. */
  readonly transcript: string | undefined;
  readonly session: string | undefined;
}

/** In a process of its own, which nobody waits for. */
export function reportUsageAside(env: NodeJS.ProcessEnv, origin: string, { transcript, session }: Run): void {
  const script = process.argv[1];
  if (script === undefined || transcript === undefined) return;
  const more = ['--transcript', transcript, ...(session === undefined ? [] : ['--session', session])];
  const args = [...process.execArgv, script, 'hook', 'claude-code', 'usage', '--base-url', origin, ...more];
  const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore', env });
  child.on('error', () => {});
  child.unref();
}

/** So many seconds for another run that reports at this moment: what this one leaves is left until its next stop, or where no watcher runs for good. */
const MAX_TRIES = 30;

export async function reportUsage(env: NodeJS.ProcessEnv, origin: string, { transcript, session }: Run): Promise<void> {
  const { syncUsage } = await import('./watch/sync.ts');
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const { heldBy } = await syncUsage(env, { origin, sources: ['claude-code'], only: transcript, session_id: session });
    if (heldBy === undefined) return;
    await pause(1_000);
  }
}
