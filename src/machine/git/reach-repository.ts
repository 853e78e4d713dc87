import { Refusal } from '../../kernel/reply.ts';
import { isAllowed } from '../paths.ts';
import type { GitDisk } from './disk.ts';
import type { LocatedRepository } from './repository.ts';

interface Reach {
  readonly disk: Pick<GitDisk, 'locateRepository'>;
  /** Folders under which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
  /** What else the caller can do where the server may not touch it. */
  readonly otherwise?: string;
}

/** The repository at this path, if it is on this machine and the server may touch it: what it belongs to, too. */
export async function reachRepository({ disk, repositories, otherwise }: Reach, path: string, signal?: AbortSignal): Promise<LocatedRepository> {
  const requireAllowed = (at: string) => {
    if (isAllowed(at, repositories)) return;
    const next = `Let the operator add its folder to repositories under [machine] in config.toml${otherwise ? `, or ${otherwise}` : ''}.`;
    throw new Refusal('REPOSITORY_NOT_ALLOWED', `This server does not touch repositories at ${at}.`, next, { path: at });
  };
  requireAllowed(path);
  const located = await disk.locateRepository(path, { signal });
  requireAllowed(located.root);
  requireAllowed(located.commonDir);
  return located;
}
