import { z } from 'zod';
import { absolutePath, branch, contract, id, READ } from '../../../kernel/contract.ts';
import { writer } from '../workflows/contract.ts';

export const WORKTREE_STATUSES = ['active', 'merged', 'abandoned'] as const;
export type WorktreeStatus = (typeof WORKTREE_STATUSES)[number];

const MAX_TASKS_AT_ONCE = 500;
const MAX_LISTED = 1_000;
const DEFAULT_LISTED = 200;

const success = z.literal(true);
const status = z.enum(WORKTREE_STATUSES);

/** Accepts the branch names that `git check-ref-format` accepts. */
const branchName = branch.refine((name) => !/^-|^@$|\.\.|@\{|[\p{Cc} ~^:?*[\\]|(^|\/)\.|\.lock(\/|$)|\.$|^\/|\/$|\/\//u.test(name), {
  error: 'expected a valid git branch name',
});

export const workspaceView = z.strictObject({
  id: z.string(),
  workflow_id: z.string(),
  path: z.string(),
  branch: z.string(),
  base_branch: z.string().nullable(),
  base_commit: z.string().nullable(),
  status,
  merge_commit: z.string().nullable(),
  task_ids: z.array(z.string()),
  managed: z.boolean().describe('The server created it and removes it from disk.'),
  kept_reason: z.string().nullable().describe('Why it is still on disk after it was closed, or why it could not be created.'),
  created_at: z.int(),
  updated_at: z.int(),
  closed_at: z.int().nullable(),
});

export const workspaceCreate = contract({
  name: 'workspace_create',
  toolset: 'workflow',
  title: 'Register a workspace',
  description:
    'Registers a git worktree that you created, and assigns tasks to it. Changes nothing on disk. Not needed with auto_create_workspaces: the server then creates worktrees when tasks are claimed.',
  input: z.strictObject({
    workflow_id: id,
    path: absolutePath.describe('Absolute path of the worktree.'),
    branch: branchName,
    base_branch: branchName.optional(),
    task_ids: z.array(id).max(MAX_TASKS_AT_ONCE).optional().describe('Tasks of the workflow to do in it.'),
    ...writer,
  }),
  output: z.strictObject({ id: z.string() }),
});

export const workspaceUpdate = contract({
  name: 'workspace_update',
  toolset: 'workflow',
  title: 'Close a workspace',
  description:
    'Closes an active workspace as merged (with merge_commit) or abandoned. If the server created it, it is then removed from disk with its branch, unless work would be lost; reason then says why it is kept. Fix that and call again with the same status to remove it.',
  input: z.strictObject({
    id,
    status: status.optional(),
    merge_commit: z
      .string()
      .regex(/^[0-9a-fA-F]{7,64}$/, { error: 'expected a commit hash of 7 to 64 hexadecimal digits' })
      .optional()
      .describe('Commit that merged its work into another branch. Required for merged.'),
    agent_id: writer.agent_id,
  }),
  output: z.strictObject({
    success,
    changed: z.boolean().describe('False: the workspace already had that status.'),
    worktree: z.enum(['removed', 'kept', 'not_managed']).describe('State on disk. not_managed: not made by the server; remove it yourself.'),
    reason: z.string().optional().describe('Why it was kept.'),
  }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const workspaceList = contract({
  name: 'workspace_list',
  toolset: 'workflow',
  title: 'List workspaces',
  description: 'The workspaces of a workflow, oldest first, with the tasks assigned to them.',
  input: z.strictObject({
    workflow_id: id,
    status: z.array(status).min(1).max(WORKTREE_STATUSES.length).optional(),
    limit: z.int().min(1).max(MAX_LISTED).default(DEFAULT_LISTED),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({ workspaces: z.array(workspaceView), total: z.int() }),
  annotations: READ,
});

export const taskAssignWorkspace = contract({
  name: 'task_assign_workspace',
  toolset: 'workflow',
  title: 'Assign a task to a workspace',
  description: 'Assigns a task to an active workspace of its workflow.',
  input: z.strictObject({ task_id: id, workspace_id: id, ...writer }),
  output: z.strictObject({ success, changed: z.boolean().describe('False: it was already assigned there.') }),
  annotations: { idempotentHint: true },
});
