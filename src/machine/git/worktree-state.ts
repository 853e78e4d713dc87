import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { commitByHash, type GitOptions, git, resolveCommit } from './git.ts';
import { gitOnFiles, submodulesIn } from './git-files.ts';
import { keepsSubmodules, listedPath, listWorktrees } from './list-worktrees.ts';

/** Everything that would be lost if a worktree and its branch were removed. */
export interface WorktreeState {
  /** The repository lists it as a worktree. */
  readonly listed: boolean;
  /** Something exists at its path. */
  readonly exists: boolean;
  readonly head: string | null;
  /** The branch checked out in it; null if HEAD is detached. */
  readonly branch: string | null;
  /** The reason it is locked. */
  readonly locked: string | null;
  /** A description of uncommitted changes. */
  readonly dirty: string | null;
  /** Another repository or worktree in one of its ignored folders, which git would delete too. */
  readonly inner: string | null;
  /** Git keeps a worktree's submodules, including their commits, even when its folder is gone. */
  readonly submodules: boolean;
  /** An unfinished operation, such as a merge or rebase. */
  readonly inProgress: string | null;
  /** Commits of HEAD or the branch that are in neither the base branch, the merge commit nor a remote branch. */
  readonly unsaved: number;
  readonly branchTip: string | null;
}

export interface Against {
  readonly branch: string;
  readonly base: string | null;
  readonly mergeCommit: string | null;
  /** The name prefix of temporary branches: commits only on those do not count as saved. */
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

/** A description of uncommitted changes; null if there are none. */
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

/** The number of uncommitted files. An untracked folder counts as one. */
export async function uncommittedCounts(path: string, options: GitOptions = {}, depth = 0): Promise<{ changed: number; untracked: number; hidden: number }> {
  // Git would look into submodules with their own settings, so they are checked here with ours.
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

/** The maximum depth of nested submodules. Deeper ones count as changed, so nothing in them is lost. */
const DEEPEST = 10;

async function isTouched(path: string, options: GitOptions, depth: number): Promise<boolean> {
  const { changed, untracked } = await uncommittedCounts(path, options, depth);
  return changed + untracked > 0;
}

/** Files marked as unchanged, or as not checked out although they exist: `status` does not report changes in them. */
async function hiddenCount(path: string, options: GitOptions): Promise<number> {
  const files = (await git(path, ['ls-files', '-v', '-z'], { ...options, reads: true })).split('\0').filter((entry) => /^(S|[a-z]) /.test(entry));
  let hidden = 0;
  for (const entry of files) {
    const isThere = async () => (await lstat(join(path, entry.slice(2))).catch(() => null)) !== null;
    if (!entry.startsWith('S') || (await isThere())) hidden++;
  }
  return hidden;
}

/** Finds a repository or worktree in an ignored folder: git lists only its folder. Those that are not ignored are reported as untracked files. */
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
 * The merge commit, if a permanent ref contains it. The branch itself does not count, and neither do temporary branches: if two of them were deleted
 * at the same time, each would seem to keep the commits of the other.
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
