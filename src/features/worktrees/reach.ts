import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { Refusal } from '../../kernel/errors.ts';
import type { Located } from '../../machine/repository.ts';
import type { Outside } from './step.ts';

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

function isUnder(path: string, folder: string): boolean {
  const way = relative(real(folder), real(path));
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

function requireAllowed(path: string, repositories: readonly string[] | undefined): void {
  if (!repositories || repositories.some((folder) => isUnder(path, folder))) return;
  throw new Refusal(
    'REPOSITORY_NOT_ALLOWED',
    `This server does not touch repositories at ${path}.`,
    'Let the operator add its folder to repositories under [machine] in config.toml, or set auto_create_workspaces to false with workflow_set_parallelism.',
    { path },
  );
}

/** The repository at this path, if it is on this machine and the server may touch it: what it belongs to, too. */
export async function reachRepository({ disk, repositories }: Outside, path: string, signal?: AbortSignal): Promise<Located> {
  requireAllowed(path, repositories);
  const located = await disk.locateRepository(path, { signal });
  requireAllowed(located.root, repositories);
  requireAllowed(located.commonDir, repositories);
  return located;
}
