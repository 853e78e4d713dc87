import { git } from '../../machine/git/git.ts';
import { gitOnFiles } from '../../machine/git/git-files.ts';
import { type HookQuestion, LONGEST, MAX_FILES } from '../../wire/hook-question.ts';

type GitState = Pick<HookQuestion, 'dirty_files' | 'unpushed_files' | 'unpushed_commits'>;

/** The time limit for git. Short, because the agent's program waits for the result. */
const TIMEOUT_MS = 2_000;
const MAX_COMMITS = 1_000;

/**
 * Lists uncommitted and unpushed files, and counts unpushed commits. Runs no program that
 * the repository configures. If git does not return a result in time, it is left out.
 */
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

/** Returns an empty object if the repository has no remote to push to, or no commit yet. */
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

const isFile = (name: string): boolean => name !== '' && name.length <= LONGEST.path && !name.endsWith('/');
