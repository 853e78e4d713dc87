import type { Feature } from '../../../kernel/tool.ts';
import { type ExecutionPorts, executionTools } from './tools.ts';

export { pauseForQuestion, releaseClaimsIn, releaseClaimsOf, releaseTask, resumeAfterAnswer, unclaimTask } from './release.ts';
export { updateTaskStatus } from './status.ts';
export { claimsOf, questionsIn, tasksClaimedIn } from './store.ts';
export type { ExecutionPorts, OpenedWorktree } from './tools.ts';

export const execution = (ports: ExecutionPorts): Feature => ({ name: 'execution', implementations: executionTools(ports) });
