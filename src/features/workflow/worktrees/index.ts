import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { ExecutionPorts } from '../steps/index.ts';
import { openWorktree } from './open.ts';
import type { Outside } from './step.ts';
import { worktreeSweep } from './sweep.ts';
import { worktreeTools } from './tools.ts';

export type { Outside } from './step.ts';

export interface Worktrees {
  readonly feature: Feature;
  readonly openWorktree: ExecutionPorts['openWorktree'];
}

export const createWorktrees = (house: House, outside: Outside): Worktrees => ({
  feature: { name: 'worktrees', implementations: worktreeTools(outside), sweeps: [worktreeSweep(house, outside)] },
  openWorktree: (ctx, task, fence) => openWorktree(outside, ctx, task, fence),
});
