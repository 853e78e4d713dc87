import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { id } from '../../../kernel/fields.ts';
import { TASK_STATUSES, WORKFLOW_STATUSES } from './lifecycle.ts';

/** Where one task has thousands of neighbours, so many are told, and how many more there are. */
export const NEIGHBOURS_TOLD = 100;
const more = z.int().optional().describe('How many more there are than are told.');

export const nextTask = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  sequence: z.int(),
  status: z.enum(['pending', 'failed']),
  can_parallelize: z.boolean(),
  parallel_with: z.array(z.string()).optional().describe('Ids of the other tasks of its parallel group.'),
  parallel_with_more: more,
  dependencies_completed: z.array(z.string()).describe('Names of the tasks that it waited for.'),
  dependencies_completed_more: more,
});

export const nextTasks = contract({
  name: 'workflow_next_tasks',
  toolset: 'workflow',
  title: 'What to do next in a workflow',
  description: 'Tasks that can be taken up now: pending or failed, waiting for nothing and claimed by nobody, in the order of the plan. Claim with task_claim.',
  input: z.strictObject({
    workflow_id: id,
    include_failed: z.boolean().default(true).describe('Failed tasks too, to be tried again.'),
    limit: z.int().min(1).max(1_000).default(100),
  }),
  output: z.strictObject({
    tasks: z.array(nextTask),
    available: z.int().describe('How many there are in all.'),
    claimed: z.int().describe('How many tasks of the workflow agents hold now.'),
    max_parallel: z.int(),
    recommended_count: z.int().describe('The smaller of available and max_parallel.'),
    workflow_status: z.enum(WORKFLOW_STATUSES),
    all_complete: z.boolean().describe('There are tasks, and each is completed or skipped.'),
  }),
  annotations: READ,
});

export const GROUPS_TOLD = 1_000;

export const progressOf = contract({
  name: 'workflow_progress',
  toolset: 'workflow',
  title: 'Progress of a workflow',
  description: 'How far a workflow is: counts by status, the sequence it is at, what is blocked by what, and how much is left.',
  input: z.strictObject({ workflow_id: id }),
  output: z.strictObject({
    workflow_status: z.enum(WORKFLOW_STATUSES),
    total_tasks: z.int(),
    by_status: z.strictObject(Object.fromEntries(TASK_STATUSES.map((status) => [status, z.int()])) as Record<(typeof TASK_STATUSES)[number], z.ZodInt>),
    all_complete: z.boolean(),
    completed_sequence: z.int().describe('Up to this sequence everything is completed or skipped; 0 where nothing is.'),
    current_sequence: z.int().describe('The lowest sequence with an open task; the highest of all where none is open.'),
    blocked_tasks: z.array(z.strictObject({ id: z.string(), name: z.string(), blocked_by: z.array(z.string()), blocked_by_more: more })),
    blocked_tasks_more: more,
    parallel_groups: z.array(
      z.strictObject({ group_id: z.string(), task_count: z.int(), completed: z.int().describe('How many of them are completed or skipped.') }),
    ),
    parallel_groups_more: more,
    estimated_remaining: z.int().describe('How many tasks are still open.'),
    estimated_remaining_ms: z.int().nullable().describe('How long they take at the rate so far. Null: nothing tells yet.'),
  }),
  annotations: READ,
});

export const checkDependencies = contract({
  name: 'task_check_dependencies',
  toolset: 'workflow',
  title: 'Check the dependencies of a task',
  description: 'What a task waits for, and what came of that which it no longer waits for.',
  input: z.strictObject({ task_id: id }),
  output: z.strictObject({
    satisfied: z.boolean(),
    pending: z.array(z.strictObject({ id: z.string(), name: z.string(), status: z.enum(TASK_STATUSES) })),
    completed: z.array(z.strictObject({ id: z.string(), name: z.string(), outcome: z.string() })),
  }),
  annotations: READ,
});
