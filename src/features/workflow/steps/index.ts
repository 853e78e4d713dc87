import type { Feature } from '../../../kernel/tool.ts';
import type { ExecutionPorts } from './claims.ts';
import { executionTools } from './tools.ts';

export type { ExecutionPorts, OpenedWorktree } from './claims.ts';
export { pauseForQuestion, releaseClaimsIn, releaseClaimsOf, releaseTask, requireClaimed, resumeAfterAnswer, unclaimTask } from './claims.ts';
export { updateTaskStatus } from './status.ts';
export { claimsOf, questionsIn, tasksClaimedIn, tasksHeldBy } from './store.ts';

export const execution = (ports: ExecutionPorts): Feature => ({ name: 'execution', implementations: executionTools(ports) });
