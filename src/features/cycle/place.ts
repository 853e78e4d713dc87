import { realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { CallContext } from '../../kernel/call.ts';
import { invalidInput, Refusal } from '../../kernel/reply.ts';
import type { FileDisk } from '../../machine/files.ts';
import { repositoryAround } from '../../machine/git/place.ts';
import { isAllowed } from '../../machine/paths.ts';
import { FOLDER } from './config.ts';

/** The machine outside the store, and which repositories on it may be touched. */
export interface CycleOutside {
  readonly files: FileDisk;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
}

/** It is part of a key, and no database keeps one of any length. */
const MAX_PATH_BYTES = 2_000;

/** The folder whose cycles are meant, without symbolic links: the nearest with a broker folder, else the repository, else the folder itself. */
export async function repositoryOf({ files, repositories }: CycleOutside, named: string | undefined, ctx: Pick<CallContext, 'repository'>): Promise<string> {
  const path = named ?? ctx.repository;
  if (!path) throw invalidInput([{ field: 'repository_path', message: 'expected the path of the repository: your client does not report where it works' }]);
  const folder = await realFolder(files, path);
  const around = folder && repositoryAround(folder);
  // The file that marks a worktree may name any repository: through a link it would be another one, with an active cycle of its own.
  const root = around && (await realFolder(files, around));
  const repository = folder && root && (await nearest(files, folder, root));
  // Nor is anybody told what is not there where the server may not look.
  requireAllowed(repository ?? around ?? path, repositories);
  if (repository && Buffer.byteLength(repository) > MAX_PATH_BYTES) {
    throw invalidInput([{ field: 'repository_path', message: `is longer than ${MAX_PATH_BYTES} bytes once links are followed` }]);
  }
  if (repository) return repository;
  const message = around ? `${path} is a worktree of ${around}, which is not there` : `there is no folder ${path} on the server's machine`;
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
    `This server does not touch repositories at ${path}.`,
    'Let the operator add its folder to repositories under [machine] in config.toml.',
    { field: 'repository_path' },
  );
}

/** A part of a repository may have cycles of its own; a worktree has those of its repository, also where it lies in it and has the folder checked out. */
async function nearest(files: FileDisk, folder: string, repository: string): Promise<string> {
  let found = repository;
  for (let at = folder; at.startsWith(`${repository}${sep}`); at = dirname(at)) {
    if ((await files.readText(join(at, '.git')).catch(() => null)) !== null) return repository;
    if (found === repository && (await files.isFolder(join(at, FOLDER)))) found = at;
  }
  return found;
}
