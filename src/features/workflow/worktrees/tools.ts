import type { z } from 'zod';
import { ok } from '../../../kernel/reply.ts';
import { isUnderWay, stepRunner } from '../../../kernel/step.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { view } from '../../../storage/rows.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import { requireWorkflow } from '../workflows/index.ts';
import { assignTask } from './assign.ts';
import { beginClosing, requireClosable, requireCommit, requireStatusChange } from './close.ts';
import { taskAssignWorkspace, workspaceCreate, workspaceList, workspaceUpdate, workspaceView } from './contract.ts';
import type { WorktreeOutside } from './outside.ts';
import { registerWorktree } from './register.ts';
import { carryOutRemoval } from './removal.ts';
import { pageOfWorktrees, requireWorktree, tasksIn } from './store.ts';

const viewWorktree = (row: WorktreeRow, task_ids: string[]): z.output<typeof workspaceView> =>
  view(workspaceView, row, { task_ids, managed: row.made_by_server === 1 });

export const worktreeTools = (outside: WorktreeOutside): Implementation[] => [
  implement(workspaceCreate, { write: async (tx, input, ctx) => ok({ id: await registerWorktree(tx, ctx, input) }) }),
  implement(workspaceUpdate, {
    run: async (input, ctx) => {
      const closing = { ...input, status: requireStatusChange(input) };
      const seen = await requireWorktree(ctx.reader, ctx.workspace, input.id, 'id');
      const changes = requireClosable(seen, closing);
      if (changes && seen.made_by_server === 1 && input.merge_commit !== undefined) await requireCommit(outside, seen, input.merge_commit, ctx.signal);
      const { row, changed, leased } = await ctx.write((tx) => beginClosing(tx, ctx, closing));
      if (!leased) return ok({ success: true as const, changed, ...onDisk(row, ctx.clock.now()) });
      const kept = await carryOutRemoval(outside, stepRunner(ctx), leased);
      return ok({ success: true as const, changed, ...(kept === null ? { worktree: 'removed' as const } : { worktree: 'kept' as const, reason: kept }) });
    },
  }),
  implement(workspaceList, {
    read: async ({ workflow_id, ...filter }, ctx) => {
      await requireWorkflow(ctx.reader, ctx.workspace, workflow_id, 'workflow_id');
      const { rows, total } = await pageOfWorktrees(ctx.reader, ctx.workspace, workflow_id, filter);
      const ids = rows.map(({ id }) => id);
      const tasks = await tasksIn(ctx.reader, ctx.workspace, ids);
      return ok({ workspaces: rows.map((row) => viewWorktree(row, tasks.get(row.id) ?? [])), total });
    },
  }),
  implement(taskAssignWorkspace, { write: async (tx, input, ctx) => ok({ success: true as const, changed: await assignTask(tx, ctx, input) }) }),
];

function onDisk(row: WorktreeRow, now: number): { worktree: 'removed' | 'kept' | 'not_managed'; reason?: string } {
  if (row.made_by_server === 0) return { worktree: 'not_managed' };
  if (isUnderWay(row, now)) return { worktree: 'kept', reason: `it is currently being ${row.step === 'creating' ? 'created' : 'removed'}` };
  return row.status === 'active' ? { worktree: 'kept', reason: 'it is active' } : { worktree: 'removed' };
}
