import { reachRepository as reach } from '../../../machine/git/reach.ts';
import type { Located } from '../../../machine/git/repository.ts';
import type { Outside } from './step.ts';

const otherwise = 'set auto_create_workspaces to false with workflow_set_parallelism';

export const reachRepository = (outside: Outside, path: string, signal?: AbortSignal): Promise<Located> => reach({ ...outside, otherwise }, path, signal);
