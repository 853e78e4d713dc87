import { Refusal } from '../../kernel/reply.ts';
import { isAllowed } from '../paths.ts';
import type { GitDisk } from './disk.ts';
import type { LocatedRepository } from './repository.ts';

interface Reach {
  readonly disk: Pick<GitDisk, 'locateRepository'>;
  /** Folders in which repositories may be; undefined: anywhere. */
  readonly repositories: readonly string[] | undefined;
  /** A sentence with an alternative for the caller if the server may not access the repository. */
  readonly otherwise?: string;
}

/** The repository at this path, if it exists on this machine and the server may access it, including its main checkout. */
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
