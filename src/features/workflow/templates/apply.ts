import { Refusal } from '../../../kernel/errors.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { type Issue, invalidInput } from '../../../kernel/input.ts';
import { type Definition, storedTask, type TemplateTask, type Variable } from './contract.ts';
import { substituted } from './places.ts';

/** A template makes no larger plan than could be sent. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/**
 * The tasks of a template with every place filled. What comes of it must again be what a plan may say. One after another, and not
 * on after the first that is wrong: a long value in a thousand places of a thousand tasks would be gigabytes.
 */
export function filledIn({ tasks, variables }: Definition, given: Readonly<Record<string, string>>): TemplateTask[] {
  const values = valuesFor(variables, given);
  let characters = 0;
  return tasks.map((task, index) => {
    const filled = storedTask.safeParse(substituted(task, values));
    if (!filled.success) throw invalidInput(filled.error.issues.map(({ path, message }) => wrong(task, index, path, message)));
    characters += JSON.stringify(filled.data).length;
    if (characters > MOST_CHARACTERS) throw tooLarge(index);
    return filled.data;
  });
}

function wrong({ name }: TemplateTask, index: number, path: readonly PropertyKey[], message: string): Issue {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return {
    field: 'variables',
    message: `with them the task ${JSON.stringify(beginning(name, 60))} is no task, at tasks[${index}]${place}: ${message}`,
  };
}

const tooLarge = (index: number) =>
  invalidInput([{ field: 'variables', message: `with them the plan is larger than ${MOST_CHARACTERS} characters, at tasks[${index}]` }]);

function valuesFor(variables: readonly Variable[], given: Readonly<Record<string, string>>): Map<string, string> {
  const values = new Map(Object.entries(given));
  const known = new Set(variables.map(({ name }) => name));
  const unknown = [...values.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const next = known.size === 0 ? 'It has no variables: leave them out.' : `Its variables are ${[...known].join(', ')}.`;
    throw new Refusal('UNKNOWN_VARIABLE', `The template has no variable ${unknown.join(', ')}.`, next, { field: `variables.${unknown[0]}`, unknown });
  }
  const missing = variables.filter(({ name, required, default: standard }) => required && standard === undefined && !values.has(name)).map(({ name }) => name);
  if (missing.length > 0) {
    throw new Refusal('MISSING_VARIABLES', `The template needs a value for ${missing.join(', ')}.`, 'Give each of them a value in variables.', {
      field: 'variables',
      missing,
    });
  }
  return new Map(variables.map(({ name, default: standard = '' }) => [name, values.get(name) ?? standard]));
}
