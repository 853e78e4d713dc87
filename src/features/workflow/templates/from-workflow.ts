import { invalidState } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { activeTasks, edgesOf, readStrings, requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import type { TemplateTask } from './contract.ts';

/** Returns the tasks of a workflow in the form of a plan. */
export async function tasksFrom(db: Db, workspace: string, workflowId: string): Promise<TemplateTask[]> {
  const workflow = await requireWorkflow(db, workspace, workflowId, 'from_workflow_id');
  const rows = await activeTasks(db, workflow).selectAll().orderBy('sequence').orderBy('id').execute();
  if (rows.length === 0) {
    const next =
      workflow.status === 'planning'
        ? `Set its plan first: workflow_set_plan with id "${workflow.id}" and a plan.`
        : 'Use another workflow: call workflow_list to see their ids.';
    throw invalidState(`Workflow ${JSON.stringify(workflow.name)} has no tasks to make a template from.`, next, {
      field: 'from_workflow_id',
      status: workflow.status,
    });
  }
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  const waitsFor = new Map<string, string[]>();
  for (const { task_id, depends_on } of await edgesOf(db, workflow)) {
    const name = names.get(depends_on);
    if (name === undefined) continue;
    const waited = waitsFor.get(task_id);
    if (waited) waited.push(name);
    else waitsFor.set(task_id, [name]);
  }
  return rows.map((row) => taskFrom(row, (waitsFor.get(row.id) ?? []).sort()));
}

const taskFrom = (row: WorkflowTaskRow, dependencies: string[]): TemplateTask => ({
  name: row.name,
  description: row.description,
  sequence: row.sequence,
  ...(row.parallel_group === null ? {} : { parallel_group: row.parallel_group }),
  ...(dependencies.length === 0 ? {} : { depends_on: dependencies }),
  ...listed('capabilities', readStrings(row.capabilities)),
  ...(row.estimated_complexity === null ? {} : { estimated_complexity: row.estimated_complexity }),
  ...listed('files_likely_affected', readStrings(row.files)),
});

const listed = <K extends string>(key: K, values: string[]) => (values.length === 0 ? {} : ({ [key]: values } as Record<K, string[]>));
