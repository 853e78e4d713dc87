import { dirname, join } from 'node:path';
import type { InstanceOutside } from './ports.ts';

/** A folder in the worktree that git ignores. */
export const FOLDER = '.covenant';
/** A file in it that names the owner, if several homes share a repository. */
export const OWNER_FILE = 'machine';

/** The machine named in a worktree; null if none is named. */
export const ownerOf = async ({ files }: Pick<InstanceOutside, 'files'>, path: string): Promise<string | null> =>
  await files.readText(join(path, FOLDER, OWNER_FILE)).catch(() => null);

/** Refuses a worktree of another home, which this server neither uses nor removes. */
export async function requireOwn(outside: Pick<InstanceOutside, 'files' | 'machine'>, path: string): Promise<void> {
  const owner = await ownerOf(outside, path);
  if (owner !== null && owner !== outside.machine) throw new Error(`${path} belongs to the server ${JSON.stringify(owner.slice(0, 200))}`);
}

/** The names of all existing worktree folders. A server's own records are not enough, because homes do not know each other's instances. */
export async function foldersIn({ disk }: Pick<InstanceOutside, 'disk'>, repository: string, signal?: AbortSignal): Promise<string[]> {
  const worktrees = await disk.listWorktrees(repository, { signal });
  return worktrees.flatMap(({ path }) => (dirname(path) === worktreesFolder(repository) ? [path.slice(worktreesFolder(repository).length + 1)] : []));
}

export const worktreesFolder = (repository: string): string => `${repository}-worktrees`;
