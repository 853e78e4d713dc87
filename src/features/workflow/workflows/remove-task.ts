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
  const obstacle = obstacleTo(task);
  if (obstacle) throw taskNotRemovable(task, obstacle);
  const { dependents, dependencies } = await countDependents(tx.db, tx.workspace, task.id);
  const tooManyAfter = () =>
    taskNotRemovable(task, {
      why: `${dependents} tasks wait for it and it waits for ${dependencies}: rewiring them would exceed the maximum number of dependencies`,
      next: 'First remove some of the tasks that wait for it or that it waits for: workflow_remove_task.',
    });
  // Each dependent gets every dependency of the removed task. With 1,000 dependents and 1,000 dependencies, this would create a million edges.
  if (dependents * dependencies > MAX_DEPENDENCIES) throw tooManyAfter();
  // The task also leaves its parallel group, so that queries that count the tasks of a group do not have to exclude removed tasks.
  await changeTask(tx.db, tx.workspace, task.id, { status: 'removed', parallel_group: null, finished_at: tx.now, updated_at: tx.now });
  await rewireDependents(tx, task);
  // The edges can be counted only now, because many of the new edges may have existed before.
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

interface Obstacle {
  readonly why: string;
  readonly next: string;
}

function obstacleTo(task: WorkflowTaskRow): Obstacle | undefined {
  const { id, assigned_agent_id: holder } = task;
  if (holder !== null) {
    const ask = `Ask its holder to call task_release with task_id "${id}": message_send with recipient_id "${holder}". Or ask a person to run \`covenant workflow release ${id}\`.`;
    return { why: 'an agent has claimed it', next: `${ask} Then repeat the call.` };
  }
  if (task.question_id !== null) return { why: 'it waits for an answer to its question', next: 'Wait until its question is answered, then repeat the call.' };
  if (isOneOf(SYSTEM_MACHINE.remove.from, task.status)) return undefined;
  return {
    why: `it is ${shownStatus(task)}`,
    next: 'Nothing to do: only an unclaimed task that is pending, blocked, planning or failed can be removed.',
  };
}

const taskNotRemovable = (task: WorkflowTaskRow, { why, next }: Obstacle): Refusal =>
  new Refusal('TASK_NOT_REMOVABLE', `Task ${JSON.stringify(task.name)} cannot be removed: ${why}.`, next, {
    field: 'task_id',
    task_id: task.id,
    status: shownStatus(task),
    assigned_agent_id: task.assigned_agent_id,
  });

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
