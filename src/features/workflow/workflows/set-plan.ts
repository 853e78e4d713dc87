import type { z } from 'zod';
import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type addTaskContract, MAX_TASKS, type NewPlan, type PlannedTask, type workflowPlan } from './contract.ts';
import { checkPlan, dependencyCycle, findCycle, selfDependency, unknownDependency } from './graph.ts';
import { countDependents, countEdges, countTasks, edgesOf, lastSequence, namesOf, rewireDependents, tasksNamed, waitForOneMore } from './graph-store.ts';
import { isEnded, isOneOf, isSatisfied, SYSTEM_MACHINE, shownStatus, WORKFLOW_MACHINE } from './lifecycle.ts';
import { syncOverlapStatus, TOLD_AT_ONCE, tellTasks } from './overlap.ts';
import { changeTask, changeWorkflow, requireNotEnded } from './store.ts';

/** Edges of a graph, in all: a plan must be stored in one go while others wait. */
const MAX_DEPENDENCIES = 100_000;

/** Creates all tasks of a plan, or none. */
export async function setPlan(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, plan: NewPlan): Promise<{ tasks: WorkflowTaskRow[]; groups: number }> {
  if (workflow.status !== 'planning') throw pastPlanning(workflow);
  const dependencies = checkPlan(plan.tasks);
  const edges = plan.tasks.reduce((sum, { name }) => sum + (dependencies.get(name)?.length ?? 0), 0);
  if (edges > MAX_DEPENDENCIES) throw tooManyDependencies(edges, 'plan.tasks');
  const waiting = (name: string) => dependencies.get(name)?.length ?? 0;
  const tasks = plan.tasks.map((task, index) => newTask(tx, workflow.id, task, waiting(task.name), index < TOLD_AT_ONCE));
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
  await tellTasks(tx, tasks.slice(0, TOLD_AT_ONCE), { ...workflow, status: 'ready' });
  const groups = new Set(tasks.map(({ parallel_group }) => parallel_group).filter((group) => group !== null)).size;
  const payload = { name: excerpt(workflow.name, 200), tasks: tasks.length, dependencies: edges, parallel_groups: groups };
  record(tx, ctx, { category: 'work', kind: 'workflow.planned', subject: workflow.id, payload });
  return { tasks, groups };
}

const newTask = (tx: Tx, workflowId: string, task: PlannedTask, openDependencies: number, told: boolean): WorkflowTaskRow => ({
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
  indexed: told ? 1 : 0,
  created_at: tx.now,
  updated_at: tx.now,
  started_at: null,
  finished_at: null,
});

const pastPlanning = ({ id, name, status }: WorkflowRow): Refusal =>
  new Refusal(
    'INVALID_TRANSITION',
    `Workflow ${JSON.stringify(name)} is ${status}: a plan is set while it is in planning, and once.`,
    isEnded(status) ? 'Make a new workflow.' : 'Change what is planned with workflow_add_task and workflow_remove_task.',
    { field: 'id', workflow_id: id, from: status, to: 'ready', allowed: [...WORKFLOW_MACHINE[status]] },
  );

const tooManyDependencies = (count: number, field: string): Refusal =>
  new Refusal(
    'TOO_MANY_DEPENDENCIES',
    `That makes ${count} dependencies; a workflow has at most ${MAX_DEPENDENCIES}.`,
    'Leave out those that follow from others: who waits for b, which waits for a, need not name a.',
    { field },
  );

type Spec = Input<typeof addTaskContract>;

/** A task more, in a plan that is being worked on. */
export async function addTask(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, spec: Spec): Promise<WorkflowTaskRow> {
  requireNotEnded(workflow);
  if (workflow.status === 'planning') throw notPlanned(workflow);
  if ((await countTasks(tx.db, workflow)) >= MAX_TASKS) throw tooManyTasks(workflow);
  const { after, dependencies, blocked } = await neighbours(tx.db, workflow, spec);
  for (const task of blocked) requireNotBegun(task);
  if (blocked.length > 0) await requireNoCycle(tx.db, workflow, spec.name, dependencies, blocked);
  const edges = dependencies.length + blocked.length;
  if (edges > 0) await requireRoomFor(tx.db, workflow, edges);
  const sequence = spec.sequence ?? (after?.sequence ?? (await lastSequence(tx.db, workflow))) + 1;
  const waitsFor = dependencies.filter(({ status }) => !isSatisfied(status)).length;
  const row = newTask(tx, workflow.id, { ...spec, sequence }, waitsFor, true);
  await insertRows(tx.db, 'workflow_tasks', row);
  const edge = { workspace_id: tx.workspace, workflow_id: workflow.id };
  await insertRows(tx.db, 'workflow_dependencies', [
    ...dependencies.map(({ id }) => ({ ...edge, task_id: row.id, depends_on: id })),
    ...blocked.map(({ id }) => ({ ...edge, task_id: id, depends_on: row.id })),
  ]);
  await waitForOneMore(
    tx,
    blocked.map(({ id }) => id),
  );
  await tellTasks(tx, [row], workflow);
  const payload = { workflow_id: workflow.id, name: excerpt(row.name, 200), sequence, depends_on: dependencies.length, blocks: blocked.length };
  record(tx, ctx, { category: 'work', kind: 'workflow.task_added', subject: row.id, payload });
  return row;
}

interface Neighbours {
  readonly after: WorkflowTaskRow | undefined;
  readonly dependencies: readonly WorkflowTaskRow[];
  readonly blocked: readonly WorkflowTaskRow[];
}

/** The tasks that the new one is put between; all must be there, and none be called as it is. */
async function neighbours(db: Db, workflow: WorkflowRow, { name, after, depends_on = [], blocks = [] }: Spec): Promise<Neighbours> {
  const refs = [...(after === undefined ? [] : [after]), ...depends_on, ...blocks];
  const found = await tasksNamed(db, workflow, [name, ...refs]);
  const byName = new Map(found.map((task) => [task.name, task]));
  const byId = new Map(found.map((task) => [task.id, task]));
  const namesake = byName.get(name);
  if (namesake) throw nameTaken(namesake);
  const known = (ref: string, field: string): WorkflowTaskRow => {
    const task = byName.get(ref) ?? byId.get(ref);
    if (task) return task;
    throw ref === name ? selfDependency(name, field) : unknownDependency(name, ref, field);
  };
  const first = after === undefined ? undefined : known(after, 'after');
  const dependencies = depends_on.map((ref) => known(ref, 'depends_on'));
  return {
    after: first,
    dependencies: [...new Set(first ? [first, ...dependencies] : dependencies)],
    blocked: [...new Set(blocks.map((ref) => known(ref, 'blocks')))],
  };
}

async function requireRoomFor(db: Db, workflow: WorkflowRow, edges: number): Promise<void> {
  const all = (await countEdges(db, workflow)) + edges;
  if (all > MAX_DEPENDENCIES) throw tooManyDependencies(all, 'depends_on');
}

function requireNotBegun(task: WorkflowTaskRow): void {
  if (task.status === 'pending' && task.assigned_agent_id === null) return;
  const why = task.assigned_agent_id === null ? shownStatus(task) : 'claimed by an agent';
  throw invalidState(
    `Task ${JSON.stringify(task.name)} cannot be made to wait for a new one: it is ${why}.`,
    'Let only tasks wait that are pending and claimed by nobody.',
    { field: 'blocks', task_id: task.id, status: shownStatus(task), assigned_agent_id: task.assigned_agent_id },
  );
}

/** Stands for the new task, which has no id yet. */
const NEW = '';

/** The new task closes a circle exactly where something that it waits for waits for something that is to wait for it. */
async function requireNoCycle(
  db: Db,
  workflow: WorkflowRow,
  name: string,
  dependencies: readonly WorkflowTaskRow[],
  blocked: readonly WorkflowTaskRow[],
): Promise<void> {
  const graph = new Map([[NEW, dependencies.map(({ id }) => id)]]);
  for (const [id, edges] of Map.groupBy(await edgesOf(db, workflow), (edge) => edge.task_id)) {
    graph.set(
      id,
      edges.map((edge) => edge.depends_on),
    );
  }
  for (const { id } of blocked) graph.set(id, [...(graph.get(id) ?? []), NEW]);
  const cycle = findCycle(graph);
  if (!cycle) return;
  const names = await namesOf(db, workflow.workspace_id, cycle);
  const named = cycle.map((id) => names.get(id) ?? name);
  throw dependencyCycle(named, 'blocks');
}

/** Whoever adds it again because the answer was lost learns that it is there. */
const nameTaken = ({ id, name }: WorkflowTaskRow): Refusal =>
  new Refusal(
    'DUPLICATE_TASK_NAME',
    `The workflow has a task ${JSON.stringify(name)} already: ${id}.`,
    'Use that one, or give the new task a name of its own.',
    { field: 'name', name, task_id: id },
  );

const notPlanned = (workflow: WorkflowRow): Refusal =>
  invalidState(`Workflow ${JSON.stringify(workflow.name)} has no plan yet.`, 'Set its plan, with this task in it, with workflow_set_plan.', {
    workflow_id: workflow.id,
    status: workflow.status,
  });

const tooManyTasks = (workflow: WorkflowRow): Refusal =>
  new Refusal('TOO_MANY_TASKS', `Workflow ${JSON.stringify(workflow.name)} has ${MAX_TASKS} tasks, which is the most.`, 'Put the rest into another workflow.', {
    workflow_id: workflow.id,
  });

/** Takes the task out of the graph. How many waited for it. */
export async function removeTask(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, task: WorkflowTaskRow, reason: string | undefined): Promise<number> {
  if (task.workflow_id !== workflow.id) throw ofAnother(workflow, task);
  requireNotEnded(workflow);
  const why = notRemovable(task);
  if (why) throw refusal(task, why);
  const { dependents, dependencies } = await countDependents(tx.db, tx.workspace, task.id);
  const crowded = () => refusal(task, `${dependents} tasks wait for it and it waits for ${dependencies}: they would get too many dependencies`);
  // A task between a thousand and a thousand others would make a million.
  if (dependents * dependencies > MAX_DEPENDENCIES) throw crowded();
  // Out of its group too: who counts that should not have to know of removed tasks.
  await changeTask(tx.db, tx.workspace, task.id, { status: 'removed', parallel_group: null, finished_at: tx.now, updated_at: tx.now });
  await rewireDependents(tx, task);
  // Many of them may have been there already: only afterwards it is known how many there are.
  if (dependents * dependencies > dependents + dependencies && (await countEdges(tx.db, workflow)) > MAX_DEPENDENCIES) throw crowded();
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
