import type { GitDisk } from '../../../machine/git/disk.ts';
import { reachRepository as reach } from '../../../machine/git/reach-repository.ts';
import type { LocatedRepository } from '../../../machine/git/repository.ts';

/** Access to git on the server's machine, and the folders whose repositories may be used. */
export interface WorktreeOutside {
  readonly disk: GitDisk;
  /** Only repositories in these folders may be used. Undefined means that every folder is allowed. */
  readonly repositories: readonly string[] | undefined;
}

const otherwise = 'Or set auto_create_workspaces to false with workflow_set_parallelism.';

export const reachRepository = (outside: WorktreeOutside, path: string, signal?: AbortSignal): Promise<LocatedRepository> =>
  reach({ ...outside, otherwise }, path, signal);
