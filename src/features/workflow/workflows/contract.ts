import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { id, repositoryPath, text } from '../../../kernel/fields.ts';
import { maxParallel, name, reason, SOURCE_TYPES } from './fields.ts';
import { WORKFLOW_STATUSES } from './lifecycle.ts';
import { listedTask, workflowSummary, workflowView } from './shapes.ts';

export * from './fields.ts';
export { TASK_STATUSES, WORKFLOW_STATUSES } from './lifecycle.ts';
export * from './plan-contract.ts';
export * from './query-contract.ts';
export * from './shapes.ts';

const autoCreate = z.boolean().describe('Whether a git worktree and branch are made for every parallel task that is claimed.');
const status = z.enum(WORKFLOW_STATUSES);

export const createWorkflowContract = contract({
  name: 'workflow_create',
  toolset: 'workflow',
  placed: 'repository_path',
  title: 'Create a workflow',
  description:
    'Creates a workflow from a prompt or an issue. It starts in status planning: set its plan with workflow_set_plan next. Every call makes another: if an answer was lost, look with workflow_list first.',
  input: z.strictObject({
    name,
    source_type: z.enum(SOURCE_TYPES),
    source_ref: text(1_000).optional().describe('URL or identifier of the source.'),
    source_content: z.string().max(200_000).describe('The prompt or issue itself.'),
    repository_path: repositoryPath.optional(),
    max_parallel_tasks: maxParallel.default(1),
    auto_create_workspaces: autoCreate.default(false),
  }),
  output: z.strictObject({ id: z.string(), name: z.string(), status: z.literal('planning'), max_parallel_tasks: z.int(), repository_path: z.string() }),
});

export const getWorkflow = contract({
  name: 'workflow_get',
  toolset: 'workflow',
  title: 'Get a workflow',
  description: 'A workflow with its source and plan. include_tasks adds its tasks, page by page; task_get has all of one.',
  input: z.strictObject({
    id,
    include_tasks: z.boolean().default(false),
    include_task_summaries: z.boolean().default(true).describe('With the tasks, what came of each, or what it is about.'),
    task_limit: z.int().min(1).max(10_000).default(500),
    task_offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: z.strictObject({
    ...workflowView.shape,
    tasks: z.array(listedTask).optional(),
    task_total: z.int().optional().describe('How many tasks there are on all pages.'),
  }),
  annotations: READ,
});

export const listWorkflows = contract({
  name: 'workflow_list',
  toolset: 'workflow',
  title: 'List workflows',
  description: 'The workflows of the workspace, newest first.',
  input: z.strictObject({
    repository_path: repositoryPath.optional().describe('Only those of this repository.'),
    status: z.array(status).min(1).max(WORKFLOW_STATUSES.length).optional().describe('Only those in one of these statuses.'),
    limit: z.int().min(1).max(200).default(20),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: z.strictObject({ workflows: z.array(workflowSummary), total: z.int() }),
  annotations: READ,
});

export const updateWorkflowStatus = contract({
  name: 'workflow_update_status',
  essential: true,
  toolset: 'workflow',
  title: 'Update the status of a workflow',
  description:
    'Starts, pauses, fails, completes or abandons a workflow. Completing and abandoning are final and release every claim; completed is for when workflow_next_tasks says all_complete.',
  input: z.strictObject({ id, status, reason: reason.optional() }),
  output: z.strictObject({ success: z.literal(true), changed: z.boolean().describe('False where the status already held.') }),
  annotations: { idempotentHint: true },
});

export const setParallelism = contract({
  name: 'workflow_set_parallelism',
  toolset: 'workflow',
  title: 'Set the parallelism of a workflow',
  description: 'How many tasks of the workflow may be claimed at once, and whether worktrees are made for them. What is claimed already stays claimed.',
  input: z.strictObject({ id, max_parallel_tasks: maxParallel, auto_create_workspaces: autoCreate.optional() }),
  output: z.strictObject({ success: z.literal(true) }),
  annotations: { idempotentHint: true },
});
