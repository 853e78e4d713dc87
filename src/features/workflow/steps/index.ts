import type { Feature } from '../../../kernel/tool.ts';
import type { StepPorts } from './claims.ts';
import { stepTools } from './tools.ts';

export type { OpenedWorktree, StepPorts } from './claims.ts';
export { pauseForQuestion, resumeAfterAnswer } from './question-pause.ts';
export { releaseClaimsIn, releaseClaimsOf, releaseTask, requireClaimed, unclaimTask } from './release.ts';
export { updateTaskStatus } from './status.ts';
export { claimsOf, questionsIn, tasksClaimedIn, tasksHeldBy } from './store.ts';

export const steps = (ports: StepPorts): Feature => ({ name: 'steps', implementations: stepTools(ports) });
