import { Refusal } from '../../kernel/errors.ts';
import { isAllowed } from '../../machine/allowed.ts';
import type { Located } from '../../machine/repository.ts';
import type { Outside } from './step.ts';

function requireAllowed(path: string, repositories: readonly string[] | undefined): void {
  if (isAllowed(path, repositories)) return;
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
