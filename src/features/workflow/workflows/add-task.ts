import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows } from '../../../storage/rows.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type addTaskContract, MAX_TASKS } from './contract.ts';
import { dependencyCycle, findCycle, selfDependency, unknownDependency } from './graph.ts';
import { countEdges, countTasks, edgesOf, lastSequence, namesOf, tasksNamed, waitForOneMore } from './graph-store.ts';
import { isSatisfied, shownStatus } from './lifecycle.ts';
import { indexTasks } from './overlap.ts';
import { MAX_DEPENDENCIES, newTask, tooManyDependencies } from './set-plan.ts';
import { requireNotEnded } from './store.ts';

type NewTaskInput = Input<typeof addTaskContract>;

/** Adds a task to an existing plan. */
export async function addTask(tx: Tx, ctx: WriteContext, workflow: WorkflowRow, spec: NewTaskInput): Promise<WorkflowTaskRow> {
  requireNotEnded(workflow);
  if (workflow.status === 'planning') throw notPlanned(workflow);
  if ((await countTasks(tx.db, workflow)) >= MAX_TASKS) throw tooManyTasks(workflow);
  const { after, dependencies, blocked } = await findNeighbours(tx.db, workflow, spec);
  for (const task of blocked) requireNotBegun(task);
  if (blocked.length > 0) await requireNoCycle(tx.db, workflow, spec.name, dependencies, blocked);
  const edges = dependencies.length + blocked.length;
  if (edges > 0) await requireRoomFor(tx.db, workflow, edges);
  const sequence = spec.sequence ?? (after?.sequence ?? (await lastSequence(tx.db, workflow))) + 1;
  const waitsFor = dependencies.filter(({ status }) => !isSatisfied(status)).length;
  const row = newTask(tx, workflow.id, { ...spec, sequence }, { openDependencies: waitsFor, isIndexed: true });
  await insertRows(tx.db, 'workflow_tasks', row);
  const edge = { workspace_id: tx.workspace, workflow_id: workflow.id };
  await insertRows(tx.db, 'workflow_dependencies', [
    ...dependencies.map(({ id }) => ({ ...edge, task_id: row.id, depends_on: id })),
    ...blocked.map(({ id }) => ({ ...edge, task_id: id, depends_on: row.id })),
  ]);
  const blockedIds = blocked.map(({ id }) => id);
  await waitForOneMore(tx, blockedIds);
  await indexTasks(tx, [row], workflow);
  const payload = { workflow_id: workflow.id, name: excerpt(row.name, 200), sequence, depends_on: dependencies.length, blocks: blocked.length };
  record(tx, ctx, { category: 'work', kind: 'workflow.task_added', subject: row.id, payload });
  return row;
}

interface Neighbours {
  readonly after: WorkflowTaskRow | undefined;
  readonly dependencies: readonly WorkflowTaskRow[];
  readonly blocked: readonly WorkflowTaskRow[];
}

/** Reads the tasks to which the new task refers. Refuses if one of them does not exist, or if a task with the same name already exists. */
async function findNeighbours(db: Db, workflow: WorkflowRow, { name, after, depends_on = [], blocks = [] }: NewTaskInput): Promise<Neighbours> {
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
    `Task ${JSON.stringify(task.name)} is ${why}, so it cannot wait for a new task.`,
    'Call again with only pending, unclaimed tasks in `blocks`.',
    { field: 'blocks', task_id: task.id, status: shownStatus(task), assigned_agent_id: task.assigned_agent_id },
  );
}

/** Placeholder for the id of the new task, which does not exist yet. */
const NEW = '';

/** Refuses a cycle. There would be a cycle if a dependency of the new task already waits for a task that the new task blocks. */
async function requireNoCycle(
  db: Db,
  workflow: WorkflowRow,
  name: string,
  dependencies: readonly WorkflowTaskRow[],
  blocked: readonly WorkflowTaskRow[],
): Promise<void> {
  const graph = new Map([[NEW, dependencies.map(({ id }) => id)]]);
  for (const [id, edges] of Map.groupBy(await edgesOf(db, workflow), (edge) => edge.task_id)) {
    const waitsFor = edges.map((edge) => edge.depends_on);
    graph.set(id, waitsFor);
  }
  for (const { id } of blocked) graph.set(id, [...(graph.get(id) ?? []), NEW]);
  const cycle = findCycle(graph);
  if (!cycle) return;
  const names = await namesOf(db, workflow.workspace_id, cycle);
  const named = cycle.map((id) => names.get(id) ?? name);
  throw dependencyCycle(named, 'blocks');
}

/** The refusal contains the id of the existing task, because the caller may be repeating a call whose answer was lost. */
const nameTaken = ({ id, name }: WorkflowTaskRow): Refusal =>
  new Refusal(
    'DUPLICATE_TASK_NAME',
    `The workflow already has a task named ${JSON.stringify(name)}: ${id}.`,
    `Use task "${id}", or call workflow_add_task again with another name.`,
    { field: 'name', name, task_id: id },
  );

const notPlanned = (workflow: WorkflowRow): Refusal =>
  invalidState(
    `Workflow ${JSON.stringify(workflow.name)} has no plan yet.`,
    `Set its plan, including this task: workflow_set_plan with id "${workflow.id}" and a plan.`,
    {
      workflow_id: workflow.id,
      status: workflow.status,
    },
  );

const tooManyTasks = (workflow: WorkflowRow): Refusal =>
  new Refusal(
    'TOO_MANY_TASKS',
    `Workflow ${JSON.stringify(workflow.name)} has ${MAX_TASKS} tasks, the maximum.`,
    'Create another workflow for the rest: workflow_create.',
    {
      workflow_id: workflow.id,
    },
  );
