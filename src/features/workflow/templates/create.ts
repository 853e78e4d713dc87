import { Refusal } from '../../../kernel/errors.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { invalidInput } from '../../../kernel/input.ts';
import type { Db } from '../../../storage/engine.ts';
import { checkPlan, edgesOf, readStrings, requireWorkflow, standingTasks, type WorkflowTaskRow } from '../workflows/index.ts';
import { type Definition, isVariableName, MOST_VARIABLES, type TemplateTask, type Variable } from './contract.ts';
import { normalised, placesIn } from './places.ts';

/** The rules of a plan hold for a template; what its words leave open and does not declare is required. */
export function checkedDefinition(tasks: readonly TemplateTask[], variables: readonly Variable[], field: 'template.tasks' | 'from_workflow_id'): Definition {
  const declared = new Set<string>();
  for (const [index, { name }] of variables.entries()) {
    if (declared.has(name)) throw invalidInput([{ field: `template.variables[${index}].name`, message: `${JSON.stringify(name)} is declared twice` }]);
    declared.add(name);
  }
  const written = normalised(tasks);
  checkPlan(written, field);
  const places = placesIn(written);
  const unfit = places.find((name) => !isVariableName(name));
  if (unfit !== undefined) throw invalidInput([{ field, message: `{{${excerpt(unfit, 80)}}} cannot be a variable: at most 60 characters, and not __proto__` }]);
  const found = places.filter((name) => !declared.has(name)).map((name): Variable => ({ name, description: '', required: true }));
  const all = [...variables, ...found];
  if (all.length > MOST_VARIABLES) {
    throw invalidInput([{ field, message: `leaves ${all.length} variables open; a template has at most ${MOST_VARIABLES}` }]);
  }
  return { tasks: written, variables: all };
}

/** The tasks of a workflow as a plan would write them. */
export async function tasksFrom(db: Db, workspace: string, workflowId: string): Promise<TemplateTask[]> {
  const workflow = await requireWorkflow(db, workspace, workflowId, 'from_workflow_id');
  const rows = await standingTasks(db, workflow).selectAll().orderBy('sequence').orderBy('id').execute();
  if (rows.length === 0) {
    throw new Refusal(
      'INVALID_STATE',
      `Workflow ${JSON.stringify(workflow.name)} has no tasks to make a template of.`,
      'Set its plan with workflow_set_plan.',
      {
        field: 'from_workflow_id',
        status: workflow.status,
      },
    );
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
