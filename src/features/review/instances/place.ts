import { dirname, join } from 'node:path';
import type { InstanceOutside } from './ports.ts';

/** A folder in the worktree that git ignores. */
export const FOLDER = '.covenant';
/** A file in that folder that contains the name of the machine that owns the worktree, because several Covenant homes may share a repository. */
export const OWNER_FILE = 'machine';

/** Returns the machine in the worktree's owner file; null if there is no such file. */
export const ownerOf = async ({ files }: Pick<InstanceOutside, 'files'>, path: string): Promise<string | null> =>
  await files.readText(join(path, FOLDER, OWNER_FILE)).catch(() => null);

/** Refuses a worktree of another Covenant home, because this server must neither use nor remove it. */
export async function requireOwn(outside: Pick<InstanceOutside, 'files' | 'machine'>, path: string): Promise<void> {
  const owner = await ownerOf(outside, path);
  if (owner !== null && owner !== outside.machine) throw new Error(`${path} belongs to the server ${JSON.stringify(owner.slice(0, 200))}`);
}

/**
 * Returns the names of all existing worktree folders. The server's own records are not enough, because another Covenant home may have instances in the
 * same repository.
 */
export async function foldersIn({ disk }: Pick<InstanceOutside, 'disk'>, repository: string, signal?: AbortSignal): Promise<string[]> {
  const worktrees = await disk.listWorktrees(repository, { signal });
  return worktrees.flatMap(({ path }) => (dirname(path) === worktreesFolder(repository) ? [path.slice(worktreesFolder(repository).length + 1)] : []));
}

export const worktreesFolder = (repository: string): string => `${repository}-worktrees`;
