import type { GitDisk } from '../../../machine/git/disk.ts';
import { reachRepository as reach } from '../../../machine/git/reach-repository.ts';
import type { LocatedRepository } from '../../../machine/git/repository.ts';

/** The parts of the machine outside of the store, and the repositories on it that may be used. */
export interface WorktreeOutside {
  readonly disk: GitDisk;
  /** Folders that may contain repositories; undefined: any folder. */
  readonly repositories: readonly string[] | undefined;
}

const otherwise = 'Or set auto_create_workspaces to false with workflow_set_parallelism.';

export const reachRepository = (outside: WorktreeOutside, path: string, signal?: AbortSignal): Promise<LocatedRepository> =>
  reach({ ...outside, otherwise }, path, signal);
