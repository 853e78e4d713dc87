import { dirname, join } from 'node:path';
import type { InstanceOutside } from './ports.ts';

/** In the worktree, and keeps itself out of git. */
export const FOLDER = '.covenant';
/** In it: whose it is, where several homes share a repository. */
export const OWNER_FILE = 'machine';

/** The machine that a worktree says it is of; null where it says nothing. */
export const ownerOf = async ({ files }: Pick<InstanceOutside, 'files'>, path: string): Promise<string | null> =>
  await files.readText(join(path, FOLDER, OWNER_FILE)).catch(() => null);

/** Another home's: neither worked in nor taken away by us. */
export async function requireOwn(outside: Pick<InstanceOutside, 'files' | 'machine'>, path: string): Promise<void> {
  const owner = await ownerOf(outside, path);
  if (owner !== null && owner !== outside.machine) throw new Error(`${path} is of the server ${JSON.stringify(owner.slice(0, 200))}`);
}

/** The names of all existing worktree folders: another home does not know our instances, nor we theirs. */
export async function foldersIn({ disk }: Pick<InstanceOutside, 'disk'>, repository: string, signal?: AbortSignal): Promise<string[]> {
  const worktrees = await disk.listWorktrees(repository, { signal });
  return worktrees.flatMap(({ path }) => (dirname(path) === worktreesFolder(repository) ? [path.slice(worktreesFolder(repository).length + 1)] : []));
}

export const worktreesFolder = (repository: string): string => `${repository}-worktrees`;
