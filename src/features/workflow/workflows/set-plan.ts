import type { z } from 'zod';
import { record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { NewPlan, PlannedTask, workflowPlan } from './contract.ts';
import { checkPlan } from './graph.ts';
import { isEnded, WORKFLOW_MACHINE } from './lifecycle.ts';
import { INDEXED_AT_ONCE, indexTasks } from './overlap.ts';
import { changeWorkflow } from './store.ts';

/** Maximum number of dependencies in a plan. The whole plan is stored in one transaction, which blocks other writers. */
export const MAX_DEPENDENCIES = 100_000;

/** Creates all tasks of a plan. If one task is refused, creates none. */
export async function setPlan(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, plan: NewPlan): Promise<{ tasks: WorkflowTaskRow[]; groups: number }> {
  if (workflow.status !== 'planning') throw pastPlanning(workflow);
  const dependencies = checkPlan(plan.tasks);
  const edges = plan.tasks.reduce((sum, { name }) => sum + (dependencies.get(name)?.length ?? 0), 0);
  if (edges > MAX_DEPENDENCIES) throw tooManyDependencies(edges, 'plan.tasks');
  const waiting = (name: string) => dependencies.get(name)?.length ?? 0;
  const tasks = plan.tasks.map((task, index) => newTask(tx, workflow.id, task, { openDependencies: waiting(task.name), isIndexed: index < INDEXED_AT_ONCE }));
  const ids = new Map(tasks.map(({ name, id }) => [name, id]));
  await insertRows(tx.db, 'workflow_tasks', tasks);
  await insertRows(
    tx.db,
    'workflow_dependencies',
    tasks.flatMap(({ id, name }) =>
      (dependencies.get(name) ?? []).map((dependency) => ({
        workspace_id: tx.workspace,
        workflow_id: workflow.id,
        task_id: id,
        depends_on: ids.get(dependency) as string,
      })),
    ),
  );
  const { summary, approach, risks = [], assumptions = [] } = plan;
  const stored: z.output<typeof workflowPlan> = { summary, approach, risks, assumptions };
  await changeWorkflow(tx.db, tx.workspace, workflow.id, { status: 'ready', status_reason: null, plan: JSON.stringify(stored), updated_at: tx.now });
  await indexTasks(tx, tasks.slice(0, INDEXED_AT_ONCE), { ...workflow, status: 'ready' });
  const groups = new Set(tasks.map(({ parallel_group }) => parallel_group).filter((group) => group !== null)).size;
  const payload = { name: excerpt(workflow.name, 200), tasks: tasks.length, dependencies: edges, parallel_groups: groups };
  record(tx, ctx, { category: 'work', kind: 'workflow.planned', subject: workflow.id, payload });
  return { tasks, groups };
}

/** A new pending task. `isIndexed` means that the caller adds the task to the overlap index in this transaction. */
export const newTask = (
  tx: Tx,
  workflowId: string,
  task: PlannedTask,
  { openDependencies, isIndexed }: { openDependencies: number; isIndexed: boolean },
): WorkflowTaskRow => ({
  workspace_id: tx.workspace,
  id: newId('tk', tx.now),
  workflow_id: workflowId,
  name: task.name,
  description: task.description,
  sequence: task.sequence,
  parallel_group: task.parallel_group ?? null,
  estimated_complexity: task.estimated_complexity ?? null,
  files: JSON.stringify([...new Set(task.files_likely_affected)]),
  capabilities: JSON.stringify([...new Set(task.capabilities)]),
  status: 'pending',
  open_dependencies: openDependencies,
  plan: null,
  context: null,
  outcome: null,
  outcome_detail: null,
  error: null,
  assigned_agent_id: null,
  claimed_at: null,
  fence: 0,
  completed_by: null,
  worktree_id: null,
  question_id: null,
  resume_status: null,
  last_checkpoint: 0,
  indexed: isIndexed ? 1 : 0,
  created_at: tx.now,
  updated_at: tx.now,
  started_at: null,
  finished_at: null,
});

const pastPlanning = ({ id, name, status }: WorkflowRow): Refusal =>
  new Refusal(
    'INVALID_TRANSITION',
    `Workflow ${JSON.stringify(name)} is ${status}. A plan can be set only once, while the workflow is in planning.`,
    isEnded(status) ? 'Create a new workflow: workflow_create.' : `Change the plan with workflow_add_task or workflow_remove_task and workflow_id "${id}".`,
    { field: 'id', workflow_id: id, from: status, to: 'ready', allowed: [...WORKFLOW_MACHINE[status]] },
  );

export const tooManyDependencies = (count: number, field: string): Refusal =>
  new Refusal(
    'TOO_MANY_DEPENDENCIES',
    `The plan has ${count} dependencies; a workflow can have at most ${MAX_DEPENDENCIES}.`,
    'Leave out redundant dependencies: if c depends on b and b depends on a, c need not depend on a.',
    { field },
  );
