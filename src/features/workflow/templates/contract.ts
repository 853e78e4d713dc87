import { z } from 'zod';
import { contract, id, READ, repositoryPath, text } from '../../../kernel/contract.ts';
import { maxParallel, name, plannedTask, tasksOf } from '../workflows/contract.ts';

const VALUE_CHARACTERS = 2_000;
export const MAX_VARIABLES = 100;

/** `__proto__` cannot be a variable: JavaScript treats this property of an object specially, so the value would be lost. */
export const isVariableName = (word: string): boolean => word.length <= 60 && word !== '__proto__';

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected letters, digits and _, not starting with a digit' })
  .refine(isVariableName, { error: 'expected at most 60 characters, and not __proto__' });

const variable = z.strictObject({
  name: variableName,
  description: z.string().max(1_000),
  required: z.boolean(),
  default: z.string().max(VALUE_CHARACTERS).optional(),
});
export type Variable = z.output<typeof variable>;

/** A task of a template. It has the same form as a task of a plan, but its texts may contain placeholders. */
const templateTask = plannedTask;
export type TemplateTask = z.output<typeof templateTask>;

/** A task of a stored or filled-in template. A template that was made from a workflow may have tasks with more dependencies than a plan allows. */
export const storedTask = templateTask.extend({ depends_on: z.array(name).optional() });
export const definition = z.strictObject({ tasks: z.array(storedTask), variables: z.array(variable) });
/** The part of a definition that is needed to list templates. */
export const outline = z.object({ tasks: z.array(z.unknown()), variables: z.array(variable) });
export type TemplateDefinition = z.output<typeof definition>;

export const createTemplate = contract({
  name: 'template_create',
  toolset: 'workflow',
  title: 'Create a template',
  description:
    'Creates a reusable plan from a workflow or from a definition: send exactly one of from_workflow_id and template. {{name}} in names, descriptions, dependencies, groups, capabilities and files of tasks is a variable; undeclared variables are required. Apply it with template_apply.',
  input: z.strictObject({
    name: name.describe('Must be unique.'),
    description: text(2_000).optional(),
    from_workflow_id: id.optional(),
    template: z
      .strictObject({
        tasks: tasksOf(templateTask),
        variables: z.array(variable).max(MAX_VARIABLES).optional(),
      })
      .optional(),
  }),
  output: z.strictObject({ id: z.string() }),
});

const templateView = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  task_count: z.int(),
  variables: z.array(variable),
  from_workflow_id: z.string().nullable(),
  created_at: z.int(),
});
export type TemplateView = z.output<typeof templateView>;

export const listTemplates = contract({
  name: 'template_list',
  toolset: 'workflow',
  title: 'List templates',
  description: 'Templates by name, with the variables that template_apply takes.',
  input: z.strictObject({
    limit: z.int().min(1).max(500).default(100),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: z.strictObject({ templates: z.array(templateView), total: z.int() }),
  annotations: READ,
});

export const applyTemplate = contract({
  name: 'template_apply',
  toolset: 'workflow',
  placed: 'repository_path',
  title: 'Apply a template',
  description:
    'Creates a workflow with the tasks of a template; {{name}} is replaced by the values of variables. It is ready: claim its tasks next. template_list lists the variables. Every call creates another workflow: if an answer was lost, check workflow_list first.',
  input: z.strictObject({
    template_id: id,
    workflow_name: name,
    variables: z
      .record(variableName, z.string().max(VALUE_CHARACTERS))
      .refine((values) => Object.keys(values).length <= MAX_VARIABLES, { error: `expected at most ${MAX_VARIABLES} values` })
      .optional()
      .describe('A value for each variable without a default.'),
    repository_path: repositoryPath.optional(),
    max_parallel_tasks: maxParallel.default(1),
  }),
  output: z.strictObject({ workflow_id: z.string(), tasks_created: z.int(), status: z.literal('ready') }),
});
