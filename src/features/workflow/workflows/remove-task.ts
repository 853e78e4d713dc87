import { record, type WriteContext } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { countDependents, countEdges, rewireDependents } from './graph-store.ts';
import { requireNotEnded } from './hold.ts';
import { isOneOf, SYSTEM_MACHINE, shownStatus } from './lifecycle.ts';
import { tellStatus } from './overlap.ts';
import { MOST_DEPENDENCIES } from './plan.ts';
import { changeTask } from './store.ts';

/** Takes the task out of the graph. How many waited for it. */
export async function removeTask(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, task: WorkflowTaskRow, reason: string | undefined): Promise<number> {
  if (task.workflow_id !== workflow.id) throw ofAnother(workflow, task);
  requireNotEnded(workflow);
  const why = notRemovable(task);
  if (why) throw refusal(task, why);
  const { dependents, dependencies } = await countDependents(tx.db, tx.workspace, task.id);
  const crowded = () => refusal(task, `${dependents} tasks wait for it and it waits for ${dependencies}: they would get too many dependencies`);
  // A task between a thousand and a thousand others would make a million.
  if (dependents * dependencies > MOST_DEPENDENCIES) throw crowded();
  // Out of its group too: who counts that should not have to know of removed tasks.
  await changeTask(tx.db, tx.workspace, task.id, { status: 'removed', parallel_group: null, finished_at: tx.now, updated_at: tx.now });
  await rewireDependents(tx, task);
  // Many of them may have been there already: only afterwards it is known how many there are.
  if (dependents * dependencies > dependents + dependencies && (await countEdges(tx.db, workflow)) > MOST_DEPENDENCIES) throw crowded();
  await tellStatus(tx, task, 'removed');
  const payload = {
    workflow_id: workflow.id,
    name: excerpt(task.name, 200),
    rewired: dependents,
    ...(reason === undefined ? {} : { reason: excerpt(reason, 400) }),
  };
  record(tx, ctx, { category: 'work', kind: 'workflow.task_removed', subject: task.id, payload });
  return dependents;
}

function notRemovable(task: WorkflowTaskRow): string | undefined {
  if (task.assigned_agent_id !== null) return 'an agent has claimed it';
  if (task.question_id !== null) return 'it waits for the answer to a question';
  return isOneOf(SYSTEM_MACHINE.remove.from, task.status) ? undefined : `it is ${shownStatus(task)}`;
}

const refusal = (task: WorkflowTaskRow, why: string): Refusal =>
  new Refusal(
    'TASK_NOT_REMOVABLE',
    `Task ${JSON.stringify(task.name)} cannot be removed: ${why}.`,
    'Remove tasks that are pending, blocked, planning or failed, and claimed by nobody.',
    { field: 'task_id', task_id: task.id, status: shownStatus(task), assigned_agent_id: task.assigned_agent_id },
  );

const ofAnother = (workflow: WorkflowRow, task: WorkflowTaskRow): Refusal =>
  new Refusal('WORKFLOW_MISMATCH', `Task ${JSON.stringify(task.name)} is not of workflow ${workflow.id}.`, `Call with workflow_id ${task.workflow_id}.`, {
    field: 'task_id',
    workflow_id: task.workflow_id,
  });
