import { existsSync, realpathSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type GitOptions, git } from './git.ts';

export interface ListedWorktree {
  readonly path: string;
  readonly head: string | null;
  /** Null if HEAD is detached. */
  readonly branch: string | null;
  /** Why the worktree is locked, or null if it is not locked. */
  readonly locked: string | null;
}

export async function listWorktrees(repository: string, options: GitOptions = {}): Promise<ListedWorktree[]> {
  const text = await git(repository, ['worktree', 'list', '--porcelain', '-z'], { ...options, reads: true });
  return text
    .split('\0\0')
    .filter((record) => record !== '')
    .map((record) => {
      const fields = new Map(record.split('\0').map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]));
      return {
        path: fields.get('worktree') ?? '',
        head: fields.get('HEAD') ?? null,
        branch: fields.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
        locked: fields.get('locked') ?? null,
      };
    });
}

/** Returns the path as `git worktree list` shows it, with symbolic links resolved. The folder need not exist. */
export function listedPath(path: string): string {
  const parent = dirname(path);
  return join(existsSync(parent) ? realpathSync(parent) : parent, basename(path));
}

/** Whether the repository stores submodules of this worktree. Git does not delete them when only the worktree's folder is deleted. */
export async function keepsSubmodules(repository: string, path: string, options: GitOptions = {}): Promise<boolean> {
  const common = (await git(repository, ['rev-parse', '--path-format=absolute', '--git-common-dir'], { ...options, reads: true })).replace(/\n$/, '');
  for (const name of await readdir(join(common, 'worktrees')).catch(() => [])) {
    const folder = join(common, 'worktrees', name);
    const of = (await readFile(join(folder, 'gitdir'), 'utf8').catch(() => '')).replace(/\n$/, '');
    if (of === join(listedPath(path), '.git')) return existsSync(join(folder, 'modules'));
  }
  return false;
}
