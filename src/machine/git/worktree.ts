import { existsSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GitFailed, type GitOptions, git, requireBranchName, resolveCommit, retryWhileLocked } from './git.ts';
import { gitOnFiles } from './git-files.ts';
import { keepsSubmodules, type ListedWorktree, listedPath, listWorktrees } from './list-worktrees.ts';
import { uncommitted } from './worktree-state.ts';

/** Removes the worktree, and its parent folder if that is empty. Refuses if a file is modified or untracked. */
export async function removeWorktree(repository: string, path: string, options: GitOptions = {}): Promise<void> {
  // The check is done here and not by git, because git would use the repository's own settings.
  if (existsSync(path)) await requireClean(repository, path, options);
  await git(repository, ['worktree', 'remove', '--force', '--', path], { timeoutMs: CHECKOUT_MS, ...options });
  await rmdir(dirname(path)).catch(() => {});
}

async function requireClean(repository: string, path: string, options: GitOptions): Promise<void> {
  const found = await uncommitted(path, options);
  if (found !== null) throw new GitFailed('worktree', null, `'${path}' contains modified or untracked files: ${found}`);
  if (await keepsSubmodules(repository, path, options)) throw new GitFailed('worktree', null, `'${path}' contains submodules`);
}

/** Removes the worktree with all its files, without any check. Make a backup first. */
export async function forceWorktreeAway(repository: string, path: string, options: GitOptions = {}): Promise<void> {
  await git(repository, ['worktree', 'remove', '--force', '--', path], { timeoutMs: CHECKOUT_MS, ...options });
  await rmdir(dirname(path)).catch(() => {});
}

/** The time limit for a checkout, which may contain many files. */
export const CHECKOUT_MS = 90_000;
/**
 * The reason that git itself gives when it locks a worktree during its creation. Covenant's lock uses the same text and stays until the files are checked
 * out.
 */
const BEING_MADE = 'initializing';

/** Whether the worktree exists on disk and the repository lists it. */
export async function hasWorktree(repository: string, path: string, options: GitOptions = {}): Promise<boolean> {
  return existsSync(path) && (await listWorktrees(repository, options)).some((worktree) => worktree.path === listedPath(path));
}

export interface NewWorktree {
  readonly path: string;
  readonly branch: string;
  /** The commit that a new branch starts from. */
  readonly base: string;
  /** If true, work continues on an existing branch, which may have its own commits. */
  readonly continues?: boolean;
}

/**
 * Creates a worktree with a branch, or uses an existing one, and returns the commit of the branch. If an earlier attempt was interrupted, it uses what that
 * attempt left, such as half a checkout or a branch without its own commits. It refuses a branch that has commits of its own, because they are someone's
 * work.
 */
export async function addWorktree(repository: string, worktree: NewWorktree, options: GitOptions = {}): Promise<string> {
  return await retryWhileLocked(() => tryToAdd(repository, worktree, options), options.signal);
}

async function tryToAdd(repository: string, { path, branch, base, continues = false }: NewWorktree, options: GitOptions): Promise<string> {
  await requireBranchName(repository, branch, options);
  await discardUnfinished(repository, path, options);
  await mkdir(dirname(path), { recursive: true });
  const there = (await listWorktrees(repository, options)).find((worktree) => worktree.path === listedPath(path));
  if (there && existsSync(path)) {
    if (there.branch !== branch) throw new GitFailed('worktree', null, `${path} is already a worktree of ${there.branch ?? 'a detached HEAD'}`);
    return there.head ?? base;
  }
  // The worktree is registered, but someone has deleted its folder.
  if (there) await requireNothingLeft(repository, path, branch, there, options);
  if (there) await git(repository, ['worktree', 'remove', '--force', '--', path], options);
  const tip = await resolveCommit(repository, `refs/heads/${branch}`, options);
  if (tip !== null && !continues) await takeOverBranch(repository, branch, tip, base, options);
  const target = tip === null ? ['--no-track', '-b', branch, '--', path, base] : ['--', path, branch];
  try {
    await git(repository, ['worktree', 'add', '--no-checkout', '--lock', '--reason', BEING_MADE, ...target], { ...options, patient: false });
    await gitOnFiles(path, ['read-tree', '--reset', '-u', 'HEAD'], { timeoutMs: CHECKOUT_MS, ...options, patient: false });
    await git(repository, ['worktree', 'unlock', '--', path], options);
  } catch (error) {
    // Git creates the branch first and then the folder. Remove both after a failure.
    await discardUnfinished(repository, path).catch(() => {});
    if (tip === null) await deleteBranch(repository, branch, base).catch(() => {});
    throw error;
  }
  return (await resolveCommit(repository, `refs/heads/${branch}`, options)) ?? base;
}

/** Refuses if git still stores work from the deleted folder. Such work is commits that only the worktree's HEAD or its submodules contain. */
async function requireNothingLeft(repository: string, path: string, branch: string, there: ListedWorktree, options: GitOptions): Promise<void> {
  const held = there.branch !== branch ? (there.branch ?? 'a detached HEAD') : (await keepsSubmodules(repository, path, options)) ? 'submodules' : null;
  if (held === null) return;
  throw new GitFailed('worktree', null, `the folder ${path} is gone, but git still keeps ${held} of it: check git worktree list, then run git worktree prune`);
}

async function takeOverBranch(repository: string, branch: string, tip: string, base: string, options: GitOptions): Promise<void> {
  const own = Number(await git(repository, ['rev-list', '--count', tip, '--not', base], { ...options, reads: true }));
  if (own > 0) throw new GitFailed('branch', null, `branch ${branch} already exists with ${own} commit(s) of its own`);
  if (tip !== base) await git(repository, ['update-ref', `refs/heads/${branch}`, base, tip], options);
}

/**
 * Removes a worktree whose creation was interrupted. A worktree without a lock, or with another reason for its lock, is not touched, because only the lock
 * from its creation proves that nobody has worked there yet.
 */
export async function discardUnfinished(repository: string, path: string, options: GitOptions = {}): Promise<void> {
  const there = (await listWorktrees(repository, options)).find((worktree) => worktree.path === listedPath(path));
  if (there?.locked === BEING_MADE) await git(repository, ['worktree', 'remove', '--force', '--force', '--', path], options);
}

/** Deletes the branch if it still points to `expected` and is not checked out in a worktree. Returns whether the branch is gone. */
export async function deleteBranch(repository: string, branch: string, expected: string, options: GitOptions = {}): Promise<boolean> {
  await requireBranchName(repository, branch, options);
  if ((await listWorktrees(repository, options)).some((worktree) => worktree.branch === branch)) return false;
  try {
    await git(repository, ['update-ref', '-d', `refs/heads/${branch}`, expected], options);
    return true;
  } catch (error) {
    const tip = await resolveCommit(repository, `refs/heads/${branch}`, options);
    if (error instanceof GitFailed && tip !== expected) return tip === null;
    throw error;
  }
}
