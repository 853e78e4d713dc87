import { z } from 'zod';
import { Refusal } from '../../kernel/errors.ts';
import { invalidInput } from '../../kernel/input.ts';
import { type Definition, type TemplateTask, templateTask, type Variable } from './contract.ts';
import { substituted } from './places.ts';

const filledTasks = z.array(templateTask);

/** The tasks of a template with every place filled. What comes of it must again be what a plan may say. */
export function filledIn({ tasks, variables }: Definition, given: Readonly<Record<string, string>>): TemplateTask[] {
  const filled = filledTasks.safeParse(substituted(tasks, valuesFor(variables, given)));
  if (filled.success) return filled.data;
  throw invalidInput(
    filled.error.issues.map(({ path: [index, ...rest], message }) => {
      const field = rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
      const { name = '' } = tasks[Number(index)] ?? {};
      return {
        field: 'variables',
        message: `with them the task ${JSON.stringify(name.slice(0, 60))} is no task, at tasks[${String(index)}]${field}: ${message}`,
      };
    }),
  );
}

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
