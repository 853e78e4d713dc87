import type { Feature } from '../../../kernel/tool.ts';
import type { ExecutionPorts } from './ports.ts';
import { executionTools } from './tools.ts';

export type { ExecutionPorts, OpenedWorktree } from './ports.ts';
export { pauseForQuestion, resumeAfterAnswer } from './question.ts';
export { releaseClaimsIn, releaseClaimsOf, releaseTask, unclaimTask } from './release.ts';
export { moveOn } from './status.ts';
export { claimsOf, questionsIn, tasksClaimedIn, tasksHeldBy } from './store.ts';

export const execution = (ports: ExecutionPorts): Feature => ({ name: 'execution', implementations: executionTools(ports) });
