import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { StepPorts } from '../steps/index.ts';
import { openWorktree } from './create.ts';
import type { WorktreeOutside } from './outside.ts';
import { worktreeSweep } from './step-sweep.ts';
import { worktreeTools } from './tools.ts';

export type { WorktreeOutside } from './outside.ts';

interface Worktrees {
  readonly feature: Feature;
  readonly openWorktree: StepPorts['openWorktree'];
}

export const createWorktrees = (services: Services, outside: WorktreeOutside): Worktrees => ({
  feature: { name: 'worktrees', implementations: worktreeTools(outside), sweeps: [worktreeSweep(services, outside)] },
  openWorktree: (ctx, task, fence) => openWorktree(outside, ctx, task, fence),
});
