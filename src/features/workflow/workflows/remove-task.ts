import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { countDependents, countEdges, rewireDependents } from './graph-store.ts';
import { isOneOf, SYSTEM_MACHINE, shownStatus } from './lifecycle.ts';
import { syncOverlapStatus } from './overlap.ts';
import { MAX_DEPENDENCIES } from './set-plan.ts';
import { changeTask, requireNotEnded } from './store.ts';

/** Removes the task from the graph. Returns the number of tasks that waited for it. */
export async function removeTask(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, task: WorkflowTaskRow, reason: string | undefined): Promise<number> {
  if (task.workflow_id !== workflow.id) throw taskOfAnotherWorkflow(workflow, task);
  requireNotEnded(workflow);
  const why = reasonNotRemovable(task);
  if (why) throw taskNotRemovable(task, why);
  const { dependents, dependencies } = await countDependents(tx.db, tx.workspace, task.id);
  const tooManyAfter = () =>
    taskNotRemovable(task, `${dependents} tasks wait for it and it waits for ${dependencies}: rewiring them would exceed the maximum number of dependencies`);
  // A task between a thousand and a thousand others would make a million edges.
  if (dependents * dependencies > MAX_DEPENDENCIES) throw tooManyAfter();
  // Also leaves its group, so that queries that count groups need not exclude removed tasks.
  await changeTask(tx.db, tx.workspace, task.id, { status: 'removed', parallel_group: null, finished_at: tx.now, updated_at: tx.now });
  await rewireDependents(tx, task);
  // Many of the new dependencies may have existed before, so the total is known only now.
  if (dependents * dependencies > dependents + dependencies && (await countEdges(tx.db, workflow)) > MAX_DEPENDENCIES) throw tooManyAfter();
  await syncOverlapStatus(tx, task, 'removed');
  const payload = {
    workflow_id: workflow.id,
    name: excerpt(task.name, 200),
    rewired: dependents,
    ...(reason === undefined ? {} : { reason: excerpt(reason, 400) }),
  };
  record(tx, ctx, { category: 'work', kind: 'workflow.task_removed', subject: task.id, payload });
  return dependents;
}

function reasonNotRemovable(task: WorkflowTaskRow): string | undefined {
  if (task.assigned_agent_id !== null) return 'an agent has claimed it';
  if (task.question_id !== null) return 'it waits for an answer to its question';
  return isOneOf(SYSTEM_MACHINE.remove.from, task.status) ? undefined : `it is ${shownStatus(task)}`;
}

const taskNotRemovable = (task: WorkflowTaskRow, why: string): Refusal =>
  new Refusal(
    'TASK_NOT_REMOVABLE',
    `Task ${JSON.stringify(task.name)} cannot be removed: ${why}.`,
    task.assigned_agent_id === null
      ? 'Only an unclaimed task that is pending, blocked, planning or failed can be removed.'
      : `Ask its holder to call task_release with task_id "${task.id}", then try again.`,
    { field: 'task_id', task_id: task.id, status: shownStatus(task), assigned_agent_id: task.assigned_agent_id },
  );

const taskOfAnotherWorkflow = (workflow: WorkflowRow, task: WorkflowTaskRow): Refusal =>
  new Refusal(
    'WORKFLOW_MISMATCH',
    `Task ${JSON.stringify(task.name)} does not belong to workflow ${workflow.id}.`,
    `Call again with workflow_id "${task.workflow_id}".`,
    {
      field: 'task_id',
      workflow_id: task.workflow_id,
    },
  );
