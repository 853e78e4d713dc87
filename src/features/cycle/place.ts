import { realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { CallContext } from '../../kernel/call.ts';
import { invalidInput, Refusal } from '../../kernel/reply.ts';
import type { FileDisk } from '../../machine/files.ts';
import { repositoryAround } from '../../machine/git/place.ts';
import { isAllowed } from '../../machine/paths.ts';
import { FOLDER } from './config.ts';

/** The machine outside of the store, and the repositories that may be used on it. */
export interface CycleOutside {
  readonly files: FileDisk;
  /** Folders that may contain repositories. Undefined: any. */
  readonly repositories: readonly string[] | undefined;
}

/** The path is part of a database key, whose length is limited. */
const MAX_PATH_BYTES = 2_000;

/** The real path of the folder of the cycles: the nearest folder with a broker folder, else the repository, else the folder itself. */
export async function repositoryOf({ files, repositories }: CycleOutside, named: string | undefined, ctx: Pick<CallContext, 'repository'>): Promise<string> {
  const path = named ?? ctx.repository;
  if (!path) throw invalidInput([{ field: 'repository_path', message: 'required, because your client does not report its working directory' }]);
  const folder = await realFolder(files, path);
  const around = folder && repositoryAround(folder);
  // The marker file of a worktree may name any path. If it names a link, the real path is used. Otherwise the same folder would count as
  // another repository with its own active cycle.
  const root = around && (await realFolder(files, around));
  const repository = folder && root && (await nearest(files, folder, root));
  // Checked before any error, so that nobody learns what exists outside of the allowed folders.
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

/** A part of a repository may have its own cycles. A worktree inside the repository always uses the cycles of the repository. */
async function nearest(files: FileDisk, folder: string, repository: string): Promise<string> {
  let found = repository;
  for (let at = folder; at.startsWith(`${repository}${sep}`); at = dirname(at)) {
    if ((await files.readText(join(at, '.git')).catch(() => null)) !== null) return repository;
    if (found === repository && (await files.isFolder(join(at, FOLDER)))) found = at;
  }
  return found;
}
