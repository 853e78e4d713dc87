import type { Services } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { ExecutionPorts } from '../steps/index.ts';
import { openWorktree } from './open.ts';
import type { WorktreeOutside } from './step.ts';
import { worktreeSweep } from './sweep.ts';
import { worktreeTools } from './tools.ts';

export type { WorktreeOutside } from './step.ts';

export interface Worktrees {
  readonly feature: Feature;
  readonly openWorktree: ExecutionPorts['openWorktree'];
}

export const createWorktrees = (services: Services, outside: WorktreeOutside): Worktrees => ({
  feature: { name: 'worktrees', implementations: worktreeTools(outside), sweeps: [worktreeSweep(services, outside)] },
  openWorktree: (ctx, task, fence) => openWorktree(outside, ctx, task, fence),
});
