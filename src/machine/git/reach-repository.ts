import { Refusal } from '../../kernel/reply.ts';
import { isAllowed } from '../paths.ts';
import type { GitDisk } from './disk.ts';
import type { LocatedRepository } from './repository.ts';

interface Reach {
  readonly disk: Pick<GitDisk, 'locateRepository'>;
  /** Folders in which the server may access repositories. If undefined, it may access all of them. */
  readonly repositories: readonly string[] | undefined;
  /** A sentence for the refusal that tells the caller what to do if the server may not access the repository. */
  readonly otherwise?: string;
}

/** Returns the repository at this path. Throws if it does not exist on this machine, or if the server may not access it or its main checkout. */
export async function reachRepository({ disk, repositories, otherwise }: Reach, path: string, signal?: AbortSignal): Promise<LocatedRepository> {
  const requireAllowed = (at: string) => {
    if (isAllowed(at, repositories)) return;
    const next = `Ask the operator to add its folder to \`repositories\` under [machine] in config.toml and to restart the server.${otherwise ? ` ${otherwise}` : ''}`;
    throw new Refusal('REPOSITORY_NOT_ALLOWED', `This server may not access repositories at ${at}.`, next, { path: at });
  };
  requireAllowed(path);
  const located = await disk.locateRepository(path, { signal });
  requireAllowed(located.root);
  requireAllowed(located.commonDir);
  return located;
}
