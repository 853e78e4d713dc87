import { record } from '../../../kernel/call.ts';
import { invalidInput, ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import {
  addCheckpoint,
  type CheckpointRow,
  newestCheckpoints,
  requireHold,
  requireNotEnded,
  requireTask,
  requireWorkflow,
  viewCheckpoint,
  viewTask,
} from '../workflows/index.ts';
import { availableTools } from './available.ts';
import { claimTools, type StepPorts } from './claims.ts';
import { checkpointAdd, checkpointList, MAX_CHECKPOINTS, taskGet } from './contract.ts';
import { planTools } from './plan.ts';
import { statusTools } from './status.ts';
import { checkpointsAfter } from './store.ts';

export const stepTools = (ports: StepPorts): Implementation[] => [
  ...readTools,
  ...planTools,
  ...statusTools,
  ...checkpointTools,
  ...claimTools(ports),
  ...availableTools,
];

/** Maximum size of one answer, because clients accept no more. Checkpoints with details of up to 64 KiB each can exceed it. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const PAGE = 200;

const sizeOf = ({ summary, detail, files_changed }: CheckpointRow): number => summary.length + (detail ?? '').length + files_changed.length;

/** Reads pages until there are `count` rows or the answer is full. Returns at least one row. `more` is true if rows were left out. */
async function readWithin(
  count: number,
  page: (limit: number, last: CheckpointRow | undefined) => Promise<CheckpointRow[]>,
): Promise<{ rows: CheckpointRow[]; more: boolean }> {
  const rows: CheckpointRow[] = [];
  let characters = 0;
  for (;;) {
    const limit = Math.min(PAGE, count + 1 - rows.length);
    const next = await page(limit, rows.at(-1));
    for (const row of next) {
      characters += sizeOf(row);
      if (rows.length === count || (rows.length > 0 && characters > MAX_CHARACTERS)) return { rows, more: true };
      rows.push(row);
    }
    if (next.length < limit) return { rows, more: false };
  }
}

const readTools: Implementation[] = [
  implement(taskGet, {
    read: async ({ id, include_checkpoints, checkpoint_limit }, ctx) => {
      if (checkpoint_limit !== undefined && !include_checkpoints) {
        throw invalidInput([{ field: 'checkpoint_limit', message: 'requires include_checkpoints' }]);
      }
      const task = viewTask(await requireTask(ctx.reader, ctx.workspace, id, 'id'));
      if (!include_checkpoints) return ok(task);
      const count = Math.min(checkpoint_limit ?? task.checkpoint_count, task.checkpoint_count);
      const { rows } = await readWithin(count, (limit, last) => newestCheckpoints(ctx.reader, ctx.workspace, id, limit, last?.sequence));
      return ok({ ...task, checkpoints: rows.reverse().map(viewCheckpoint), checkpoints_more: count - rows.length });
    },
  }),
  implement(checkpointList, {
    read: async ({ task_id, type, since_sequence, limit = MAX_CHECKPOINTS }, ctx) => {
      await requireTask(ctx.reader, ctx.workspace, task_id);
      const { rows, more } = await readWithin(limit, (atMost, last) =>
        checkpointsAfter(ctx.reader, ctx.workspace, task_id, { types: type, after: last?.sequence ?? since_sequence }, atMost),
      );
      return ok({ checkpoints: rows.map(viewCheckpoint), more });
    },
  }),
];

const checkpointTools: Implementation[] = [
  implement(checkpointAdd, {
    write: async (tx, { task_id, type, summary, detail, files_changed, ...writer }, ctx) => {
      const task = await requireTask(tx.db, tx.workspace, task_id);
      requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
      const agentId = await requireHold(tx, ctx, task, writer);
      const { id, sequence } = await addCheckpoint(tx, task, { type, summary, detail, files_changed, agentId, actor: ctx.principal.actor });
      const payload = { workflow_id: task.workflow_id, checkpoint_id: id, sequence, type, agent_id: agentId };
      record(tx, ctx, { category: 'work', kind: 'workflow.checkpoint_added', subject: task_id, payload });
      return ok({ id, sequence });
    },
  }),
];
