import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { commitByHash, type GitOptions, git, resolveCommit } from './git.ts';
import { gitOnFiles, submodulesIn } from './git-files.ts';
import { keepsSubmodules, listedPath, listWorktrees } from './list-worktrees.ts';

/** Everything that would be lost if a worktree and its branch were removed. */
export interface WorktreeState {
  /** The repository knows it as its worktree. */
  readonly listed: boolean;
  /** There is something at its path. */
  readonly exists: boolean;
  readonly head: string | null;
  /** What is checked out in it; null where HEAD is detached. */
  readonly branch: string | null;
  /** Why it is locked. */
  readonly locked: string | null;
  /** What is not committed, in words. */
  readonly dirty: string | null;
  /** Another repository or worktree in a folder of it that is ignored: git would delete it too. */
  readonly inner: string | null;
  /** Git keeps the submodules of a worktree with it, commits and all, even when its folder is gone. */
  readonly submodules: boolean;
  /** A merge or rebase, say, that was begun and not finished. */
  readonly inProgress: string | null;
  /** Commits of HEAD or the branch that are in neither the base branch, the merge commit nor a remote's branch. */
  readonly unsaved: number;
  readonly branchTip: string | null;
}

export interface Against {
  readonly branch: string;
  readonly base: string | null;
  readonly mergeCommit: string | null;
  /** How the names of branches begin that do not last: what only they keep is not kept. */
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

/** What is not committed, in words; null: nothing. */
export async function uncommitted(path: string, options: GitOptions = {}): Promise<string | null> {
  const { changed, untracked, hidden } = await uncommittedCounts(path, options);
  const words = [
    [changed, 'changed and not committed'],
    [untracked, 'untracked'],
    [hidden, 'marked so that git does not look at them'],
  ] as const;
  const found = words.filter(([count]) => count > 0).map(([count, what]) => `${count} file(s) ${what}`);
  return found.length > 0 ? found.join(', ') : null;
}

/** How many files are not committed. Of a folder in which git knows nothing, one. */
export async function uncommittedCounts(path: string, options: GitOptions = {}, depth = 0): Promise<{ changed: number; untracked: number; hidden: number }> {
  // Git would look into submodules by their own settings: we do it, by ours.
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

/** A submodule in a submodule in a submodule. Deeper ones count as changed: nothing in them is lost by that. */
const DEEPEST = 10;

async function isTouched(path: string, options: GitOptions, depth: number): Promise<boolean> {
  const { changed, untracked } = await uncommittedCounts(path, options, depth);
  return changed + untracked > 0;
}

/** Files that are marked as unchanged, or as not checked out and yet there: `status` says nothing of what was done to them. */
async function hiddenCount(path: string, options: GitOptions): Promise<number> {
  const files = (await git(path, ['ls-files', '-v', '-z'], { ...options, reads: true })).split('\0').filter((entry) => /^(S|[a-z]) /.test(entry));
  let hidden = 0;
  for (const entry of files) {
    const isThere = async () => (await lstat(join(path, entry.slice(2))).catch(() => null)) !== null;
    if (!entry.startsWith('S') || (await isThere())) hidden++;
  }
  return hidden;
}

/** Of repositories inside, git names the folder alone. Those that are not ignored are told of as untracked. */
async function innerRepository(path: string, options: GitOptions): Promise<string | null> {
  const ignored = await git(path, ['ls-files', '--others', '--ignored', '--exclude-standard', '-z'], { ...options, reads: true });
  return ignored.split('\0').find((entry) => entry.endsWith('/')) ?? null;
}

/** What was begun and not finished: a merge or rebase, say. */
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
 * The merge commit, if something keeps it that lasts. The branch itself would take it along; and of two branches that go at the
 * same moment each could seem to be kept by the other.
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
