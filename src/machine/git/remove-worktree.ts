import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GitFailed, type GitOptions, git } from './git.ts';
import { CHECKOUT_MS, keepsSubmodules } from './worktree.ts';
import { uncommitted } from './worktree-state.ts';

/** Refuses where something is modified or untracked. An empty folder around it goes too. */
export async function removeWorktree(repository: string, path: string, options: GitOptions = {}): Promise<void> {
  // Git would look itself, by the repository's own settings.
  if (existsSync(path)) await requireClean(repository, path, options);
  await git(repository, ['worktree', 'remove', '--force', '--', path], { timeoutMs: CHECKOUT_MS, ...options });
  await rmdir(dirname(path)).catch(() => {});
}

async function requireClean(repository: string, path: string, options: GitOptions): Promise<void> {
  const found = await uncommitted(path, options);
  if (found !== null) throw new GitFailed('worktree', null, `'${path}' contains modified or untracked files: ${found}`);
  if (await keepsSubmodules(repository, path, options)) throw new GitFailed('worktree', null, `'${path}' contains submodules`);
}

/** With everything in it: for one of which a backup was made. */
export async function forceWorktreeAway(repository: string, path: string, options: GitOptions = {}): Promise<void> {
  await git(repository, ['worktree', 'remove', '--force', '--', path], { timeoutMs: CHECKOUT_MS, ...options });
  await rmdir(dirname(path)).catch(() => {});
}
