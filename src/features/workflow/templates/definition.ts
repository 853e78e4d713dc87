import { beginning, excerpt } from '../../../kernel/excerpt.ts';
import { type InputIssue, invalidInput, Refusal } from '../../../kernel/reply.ts';
import { checkPlan } from '../workflows/index.ts';
import { isVariableName, MAX_VARIABLES, storedTask, type TemplateDefinition, type TemplateTask, type Variable } from './contract.ts';

/** A placeholder in a template: `{{name}}`. */
const PLACE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

type Rewrite = (text: string) => string;

const inWords = <T extends TemplateTask>(task: T, rewrite: Rewrite): T => ({
  ...task,
  name: rewrite(task.name),
  description: rewrite(task.description),
  ...(task.parallel_group === undefined ? {} : { parallel_group: rewrite(task.parallel_group) }),
  ...(task.depends_on === undefined ? {} : { depends_on: task.depends_on.map(rewrite) }),
  ...(task.capabilities === undefined ? {} : { capabilities: task.capabilities.map(rewrite) }),
  ...(task.files_likely_affected === undefined ? {} : { files_likely_affected: task.files_likely_affected.map(rewrite) }),
});

/** Returns the names of all placeholders, in the order of their first use. */
function placesIn(tasks: readonly TemplateTask[]): string[] {
  const found = new Set<string>();
  const note: Rewrite = (text) => {
    for (const [, name] of text.matchAll(PLACE)) found.add(name as string);
    return text;
  };
  for (const task of tasks) inWords(task, note);
  return [...found];
}

/** Removes the spaces inside placeholders. Two texts that differ only in such spaces are then already equal before the placeholders are filled in. */
const normalised = (tasks: readonly TemplateTask[]): TemplateTask[] =>
  tasks.map((task) => inWords(task, (text) => text.replace(PLACE, (_, name: string) => `{{${name}}}`)));

/** Replaces each placeholder by its value. Placeholders within a value are not replaced. */
const substituted = (task: TemplateTask, values: ReadonlyMap<string, string>): TemplateTask =>
  inWords(task, (text) => text.replace(PLACE, (place, name: string) => values.get(name) ?? place));

/** Checks a template by the rules for plans. Placeholders that are not declared become required variables. */
export function checkedDefinition(
  tasks: readonly TemplateTask[],
  variables: readonly Variable[],
  field: 'template.tasks' | 'from_workflow_id',
): TemplateDefinition {
  const declared = new Set<string>();
  for (const [index, { name }] of variables.entries()) {
    if (declared.has(name)) throw invalidInput([{ field: `template.variables[${index}].name`, message: `${JSON.stringify(name)} is declared twice` }]);
    declared.add(name);
  }
  const written = normalised(tasks);
  checkPlan(written, field);
  const places = placesIn(written);
  const unusable = places.find((name) => !isVariableName(name));
  if (unusable !== undefined)
    throw invalidInput([{ field, message: `{{${excerpt(unusable, 80)}}} cannot be a variable name: at most 60 characters, and not __proto__` }]);
  const found = places.filter((name) => !declared.has(name)).map((name): Variable => ({ name, description: '', required: true }));
  const all = [...variables, ...found];
  if (all.length > MAX_VARIABLES) {
    throw invalidInput([{ field, message: `has ${all.length} variables; a template can have at most ${MAX_VARIABLES}` }]);
  }
  return { tasks: written, variables: all };
}

/** Maximum size of a filled-in plan. A template must not create a larger plan than a client could send. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Returns the tasks of a template with every placeholder filled in. Each task must then be valid in a plan. The function fills in one task after the
 * other and stops at the first invalid task. Otherwise, a long value that is used in a thousand places of a thousand tasks would take gigabytes.
 */
export function filledIn({ tasks, variables }: TemplateDefinition, given: Readonly<Record<string, string>>): TemplateTask[] {
  const values = valuesFor(variables, given);
  let characters = 0;
  return tasks.map((task, index) => {
    const filled = storedTask.safeParse(substituted(task, values));
    if (!filled.success) throw invalidInput(filled.error.issues.map(({ path, message }) => wrong(task, index, path, message)));
    characters += JSON.stringify(filled.data).length;
    if (characters > MAX_CHARACTERS) throw tooLarge(index);
    return filled.data;
  });
}

function wrong({ name }: TemplateTask, index: number, path: readonly PropertyKey[], message: string): InputIssue {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return {
    field: 'variables',
    message: `make task ${JSON.stringify(beginning(name, 60))} invalid at tasks[${index}]${place}: ${message}`,
  };
}

const tooLarge = (index: number) =>
  invalidInput([{ field: 'variables', message: `make the plan larger than ${MAX_CHARACTERS} characters, at tasks[${index}]` }]);

function valuesFor(variables: readonly Variable[], given: Readonly<Record<string, string>>): Map<string, string> {
  const values = new Map(Object.entries(given));
  const known = new Set(variables.map(({ name }) => name));
  const unknown = [...values.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const next =
      known.size === 0
        ? 'Call template_apply again without variables: the template has none.'
        : `Use only the variables of the template: ${[...known].join(', ')}.`;
    throw new Refusal('UNKNOWN_VARIABLE', `The template has no variable ${unknown.join(', ')}.`, next, { field: `variables.${unknown[0]}`, unknown });
  }
  const missing = variables.filter(({ name, required, default: standard }) => required && standard === undefined && !values.has(name)).map(({ name }) => name);
  if (missing.length > 0) {
    throw new Refusal(
      'MISSING_VARIABLES',
      `The template needs a value for ${missing.join(', ')}.`,
      'Call template_apply again with a value for each of them in `variables`.',
      {
        field: 'variables',
        missing,
      },
    );
  }
  return new Map(variables.map(({ name, default: standard = '' }) => [name, values.get(name) ?? standard]));
}
