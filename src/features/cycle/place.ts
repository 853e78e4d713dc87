import { realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { CallContext } from '../../kernel/call.ts';
import { invalidInput, Refusal } from '../../kernel/reply.ts';
import type { FileDisk } from '../../machine/files.ts';
import { repositoryAround } from '../../machine/git/place.ts';
import { isAllowed } from '../../machine/paths.ts';
import { FOLDER } from './config.ts';

/** Access to the files of this machine, and the folders in which cycles may be used. */
export interface CycleOutside {
  readonly files: FileDisk;
  /** Folders that may contain repositories. If undefined, every folder may. */
  readonly repositories: readonly string[] | undefined;
}

/** The path is limited in length, because it is part of a database key. */
const MAX_PATH_BYTES = 2_000;

/**
 * The real path of the folder to which cycles belong: the nearest folder around the path that contains a broker folder, or else the root of the
 * repository.
 */
export async function repositoryOf({ files, repositories }: CycleOutside, named: string | undefined, ctx: Pick<CallContext, 'repository'>): Promise<string> {
  const path = named ?? ctx.repository;
  if (!path) throw invalidInput([{ field: 'repository_path', message: 'required, because your client does not report its working directory' }]);
  const folder = await realFolder(files, path);
  const around = folder && repositoryAround(folder);
  // The marker file of a worktree may contain any path, also that of a link. Links are resolved, because otherwise the same folder would count
  // as another repository with its own active cycle.
  const root = around && (await realFolder(files, around));
  const repository = folder && root && (await nearest(files, folder, root));
  // This check comes before all other errors, so that callers cannot find out what exists outside of the allowed folders.
  requireAllowed(repository ?? around ?? path, repositories);
  if (repository && Buffer.byteLength(repository) > MAX_PATH_BYTES) {
    throw invalidInput([{ field: 'repository_path', message: `is longer than ${MAX_PATH_BYTES} bytes after following links` }]);
  }
  if (repository) return repository;
  const message = around ? `${path} is a worktree of ${around}, which does not exist` : `the folder ${path} does not exist on the server's machine`;
  throw invalidInput([{ field: 'repository_path', message }]);
}

async function realFolder(files: FileDisk, path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && (await files.isFolder(real)) ? real : undefined;
}

function requireAllowed(path: string, repositories: CycleOutside['repositories']): void {
  if (isAllowed(path, repositories)) return;
  throw new Refusal(
    'CONFIG_INVALID',
    `This server may not use the repository ${path}.`,
    'Ask the operator to add its folder to `repositories` under `[machine]` in config.toml and to restart the server.',
    { field: 'repository_path' },
  );
}

/**
 * Finds the nearest folder with its own cycles, because a part of a repository may have some. A worktree inside the repository uses those of the
 * repository.
 */
async function nearest(files: FileDisk, folder: string, repository: string): Promise<string> {
  let found = repository;
  for (let at = folder; at.startsWith(`${repository}${sep}`); at = dirname(at)) {
    if ((await files.readText(join(at, '.git')).catch(() => null)) !== null) return repository;
    if (found === repository && (await files.isFolder(join(at, FOLDER)))) found = at;
  }
  return found;
}
