import { z } from 'zod';
import { contract } from '../../../kernel/contract.ts';
import { id, text } from '../../../kernel/fields.ts';
import { description, name, plannedTask, plannedTaskFields, reason, sequence, tasksOf } from './fields.ts';
import { TASK_STATUSES } from './lifecycle.ts';

const notes = z.array(text(1_000)).max(100);

export const newPlan = z.strictObject({
  summary: text(2_000).describe('What the workflow is about, in brief.'),
  approach: text(20_000),
  tasks: tasksOf(plannedTask),
  risks: notes.optional(),
  assumptions: notes.optional(),
});
export type NewPlan = z.output<typeof newPlan>;

export const setPlanContract = contract({
  name: 'workflow_set_plan',
  toolset: 'workflow',
  title: 'Set the plan of a workflow',
  description:
    'Creates all tasks of a workflow in status planning, which is then ready. depends_on names other tasks of the plan. Then claim tasks: workflow_next_tasks says which.',
  input: z.strictObject({ id, plan: newPlan }),
  output: z.strictObject({ workflow_id: z.string(), tasks_created: z.int(), parallelizable_groups: z.int(), status: z.literal('ready') }),
});

const taskRef = z.string().trim().min(1).max(200);

export const addTaskContract = contract({
  name: 'workflow_add_task',
  toolset: 'workflow',
  title: 'Add a task to a workflow',
  description: 'Adds a task to a workflow that has its plan already. Tasks that are there are named by name or id.',
  input: z.strictObject({
    workflow_id: id,
    name,
    description,
    after: taskRef.optional().describe('The task it comes after: it depends on that one, and is one step later.'),
    depends_on: z.array(taskRef).max(500).optional().describe('Tasks that must be completed first.'),
    blocks: z.array(taskRef).max(500).optional().describe('Tasks that must wait for the new one: pending, and claimed by nobody.'),
    sequence: sequence.optional().describe('Default: one step after `after`, else at the end.'),
    parallel_group: plannedTaskFields.parallel_group,
    estimated_complexity: plannedTask.shape.estimated_complexity,
    files_likely_affected: plannedTask.shape.files_likely_affected,
    capabilities: plannedTaskFields.capabilities,
  }),
  output: z.strictObject({ task_id: z.string(), workflow_id: z.string(), sequence: z.int(), status: z.enum(TASK_STATUSES) }),
});

export const removeTaskContract = contract({
  name: 'workflow_remove_task',
  toolset: 'workflow',
  title: 'Remove a task from a workflow',
  description: 'Takes a task that nobody works on out of the plan. Tasks that waited for it wait for what it waited for.',
  input: z.strictObject({ workflow_id: id, task_id: id, reason: reason.optional() }),
  output: z.strictObject({ success: z.literal(true), rewired: z.int().describe('How many tasks waited for it.') }),
  annotations: { destructiveHint: true },
});
