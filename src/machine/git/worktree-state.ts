import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { commitByHash, type GitOptions, git, resolveCommit } from './git.ts';
import { gitOnFiles, submodulesIn } from './git-files.ts';
import { keepsSubmodules, listedPath, listWorktrees } from './list-worktrees.ts';

/** Describes a worktree, and what would be lost if it and its branch were removed. */
export interface WorktreeState {
  /** Whether the repository lists the path as a worktree. */
  readonly listed: boolean;
  /** Whether a file or folder exists at the worktree's path. */
  readonly exists: boolean;
  readonly head: string | null;
  /** The branch that is checked out, or null if HEAD is detached. */
  readonly branch: string | null;
  /** Why the worktree is locked, or null if it is not. */
  readonly locked: string | null;
  /** A description of the uncommitted changes, or null if there are none. */
  readonly dirty: string | null;
  /** The path of another repository or worktree in an ignored folder of this one, because git would delete that too. */
  readonly inner: string | null;
  /** Whether git stores submodules of this worktree. Their commits would be deleted with the worktree. */
  readonly submodules: boolean;
  /** An unfinished operation, such as a merge or rebase. */
  readonly inProgress: string | null;
  /** The number of commits in HEAD or the branch that are not in the base branch, not in the merge commit and not on a remote. */
  readonly unsaved: number;
  readonly branchTip: string | null;
}

export interface Against {
  readonly branch: string;
  readonly base: string | null;
  readonly mergeCommit: string | null;
  /** The name prefix of temporary branches. A commit that is only on such a branch does not count as saved. */
  readonly passing: string;
}

const UNFINISHED = {
  MERGE_HEAD: 'merge',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  sequencer: 'cherry-pick or revert',
  BISECT_LOG: 'bisect',
} as const;

export async function worktreeState(repository: string, path: string, against: Against, options: GitOptions = {}): Promise<WorktreeState> {
  const entry = (await listWorktrees(repository, options)).find((worktree) => worktree.path === listedPath(path));
  const exists = existsSync(path);
  const usable = entry !== undefined && exists;
  const branchTip = await resolveCommit(repository, `refs/heads/${against.branch}`, options);
  const head = entry?.head ?? null;
  return {
    listed: entry !== undefined,
    exists,
    head,
    branch: entry?.branch ?? null,
    locked: entry?.locked ?? null,
    dirty: usable ? await uncommitted(path, options) : null,
    inner: usable ? await innerRepository(path, options) : null,
    submodules: entry !== undefined && (await keepsSubmodules(repository, path, options)),
    inProgress: usable ? await unfinishedOperation(path, options) : null,
    unsaved: await unsavedCount(repository, [head, branchTip], against, options),
    branchTip,
  };
}

/** Returns a description of the uncommitted changes, or null if there are none. */
export async function uncommitted(path: string, options: GitOptions = {}): Promise<string | null> {
  const { changed, untracked, hidden } = await uncommittedCounts(path, options);
  const words = [
    [changed, 'changed but not committed'],
    [untracked, 'untracked'],
    [hidden, 'marked so that git ignores their changes'],
  ] as const;
  const found = words.filter(([count]) => count > 0).map(([count, what]) => `${count} file(s) ${what}`);
  return found.length > 0 ? found.join(', ') : null;
}

/** Counts files with uncommitted changes. An untracked folder counts as one file. */
export async function uncommittedCounts(path: string, options: GitOptions = {}, depth = 0): Promise<{ changed: number; untracked: number; hidden: number }> {
  // Git would read the files of submodules with the submodules' own settings, so submodules are checked separately below.
  const status = await gitOnFiles(path, ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=normal', '--ignore-submodules=dirty'], {
    ...options,
    reads: true,
  });
  const entries = status.split('\0').filter((entry) => entry !== '');
  const untracked = entries.filter((entry) => entry.startsWith('??')).length;
  const known = new Set(entries.map((entry) => entry.slice(3)));
  const within = (await submodulesIn(path, options)).filter((one) => one.isThere && !known.has(one.path));
  let touched = 0;
  for (const one of within) if (depth >= DEEPEST || (await isTouched(join(path, one.path), options, depth + 1))) touched++;
  const hidden = entries.length + touched > 0 ? 0 : await hiddenCount(path, options);
  return { changed: entries.length - untracked + touched, untracked, hidden };
}

/** The maximum depth of nested submodules. Submodules below it are not checked and count as changed, so that nothing in them is lost. */
const DEEPEST = 10;

async function isTouched(path: string, options: GitOptions, depth: number): Promise<boolean> {
  const { changed, untracked } = await uncommittedCounts(path, options, depth);
  return changed + untracked > 0;
}

/** Counts files whose changes `git status` does not report, because they are marked as unchanged or as not checked out. */
async function hiddenCount(path: string, options: GitOptions): Promise<number> {
  const files = (await git(path, ['ls-files', '-v', '-z'], { ...options, reads: true })).split('\0').filter((entry) => /^(S|[a-z]) /.test(entry));
  let hidden = 0;
  for (const entry of files) {
    const isThere = async () => (await lstat(join(path, entry.slice(2))).catch(() => null)) !== null;
    if (!entry.startsWith('S') || (await isThere())) hidden++;
  }
  return hidden;
}

/** Finds a repository or worktree in an ignored folder, for which git lists only the folder. One that is not ignored is counted as an untracked file. */
async function innerRepository(path: string, options: GitOptions): Promise<string | null> {
  const ignored = await git(path, ['ls-files', '--others', '--ignored', '--exclude-standard', '-z'], { ...options, reads: true });
  return ignored.split('\0').find((entry) => entry.endsWith('/')) ?? null;
}

/** An unfinished operation, such as a merge or rebase. */
export async function unfinishedOperation(path: string, options: GitOptions): Promise<string | null> {
  const folder = (await git(path, ['rev-parse', '--absolute-git-dir'], { ...options, reads: true })).trim();
  const found = Object.entries(UNFINISHED).find(([file]) => existsSync(join(folder, file)));
  return found?.[1] ?? null;
}

async function unsavedCount(repository: string, tips: readonly (string | null)[], against: Against, options: GitOptions): Promise<number> {
  const from = tips.filter((tip) => tip !== null);
  if (from.length === 0) return 0;
  const base = against.base === null ? null : await resolveCommit(repository, `refs/heads/${against.base}`, options);
  const saved = [base, await heldMerge(repository, against, options)].filter((commit) => commit !== null);
  return Number(await git(repository, ['rev-list', '--count', ...from, '--not', ...saved, '--remotes'], { ...options, reads: true }));
}

/**
 * Returns the merge commit if a permanent ref contains it. The worktree's own branch and temporary branches do not count. If two temporary branches were
 * deleted at the same time, each check would otherwise rely on the other branch.
 */
async function heldMerge(repository: string, { branch, mergeCommit, passing }: Against, options: GitOptions): Promise<string | null> {
  const commit = mergeCommit === null ? null : await commitByHash(repository, mergeCommit, options);
  if (commit === null) return null;
  const refs = await git(repository, ['for-each-ref', '--format=%(refname)', '--contains', commit, 'refs/heads', 'refs/remotes', 'refs/tags'], {
    ...options,
    reads: true,
  });
  return refs.split('\n').some((ref) => ref !== '' && ref !== `refs/heads/${branch}` && !ref.startsWith(`refs/heads/${passing}`)) ? commit : null;
}
