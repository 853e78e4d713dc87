import { z } from 'zod';
import { absolutePath, contract, MEMBER_READ, OPERATOR_READ, READ, repositoryPath, text, title } from '../../../kernel/contract.ts';
import { INSTANCE_ID } from './names.ts';

export const INSTANCE_TYPES = ['coding', 'review', 'planning'] as const;
export type InstanceType = (typeof INSTANCE_TYPES)[number];

export const INSTANCE_STATUSES = ['started', 'waiting_review', 'pr_created', 'pr_merged', 'pr_closed', 'terminated', 'abandoned'] as const;
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** The steps that a server carries out for an instance on the machine. If a step is overdue, the sweep takes it over. */
export const INSTANCE_STEPS = ['worktree', 'session', 'restart', 'ending', 'pull', 'issues'] as const;
export type InstanceStep = (typeof INSTANCE_STEPS)[number];

export const instanceId = z.string().regex(INSTANCE_ID, { error: 'expected work-<issue>-a<n>, review-<issue>-a<n>, planning-a<n> or adhoc-a<n>' });

export const feedbackView = z.strictObject({
  feedback_id: z.string(),
  review_instance_id: z.string(),
  review_iteration: z.int(),
  feedback_type: z.string(),
  priority: z.string(),
  feedback: z.string(),
  actionable_items: z.array(z.string()),
  git_commit_hash: z.string().nullable(),
  delivered: z.enum(['merged', 'message']).nullable(),
  reason: z.string().nullable(),
  created_at: z.int(),
});

export type Feedback = z.output<typeof feedbackView>;

/** An instance in the form that lists show. */
export const instanceView = z.strictObject({
  id: z.string(),
  type: z.enum(INSTANCE_TYPES),
  status: z.enum(INSTANCE_STATUSES),
  agent: z.string(),
  agent_id: z.string(),
  developer: z.string().nullable().describe('Developer for whom the agent works.'),
  repository: z.string(),
  branch: z.string(),
  base_branch: z.string(),
  worktree_path: z.string(),
  machine: z.string().describe('Host and Covenant home of the server that runs the instance.'),
  session_name: z.string(),
  session_kind: z.enum(['tmux', 'process']).nullable(),
  running: z.boolean().describe('Whether the agent was running at the last check.'),
  issue_number: z.int().nullable(),
  pr_number: z.int().nullable(),
  pr_url: z.string().nullable(),
  parent_instance_id: z.string().nullable(),
  review_iteration: z.int().nullable().describe('For a review agent, the number of the review.'),
  reviews: z.int().describe('Number of reviews that ran.'),
  max_reviews: z.int().describe('Maximum number of reviews, including extra reviews.'),
  extra_reviews: z.int().describe('Number of extra reviews that people have allowed.'),
  failed_reviews: z.int(),
  max_failed_reviews: z.int().describe('Number of failed reviews after which the instance is abandoned.'),
  at_limit: z.boolean(),
  suggestions: z.array(z.string()).describe('What people can do if the review limit is reached.'),
  status_reason: z.string().nullable(),
  kept_reason: z.string().nullable().describe('Why the worktree was kept after the instance ended.'),
  backup_ref: z.string().nullable().describe('Git ref with a backup of the worktree after a forced removal.'),
  created_by: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  last_activity: z.int(),
  ended_at: z.int().nullable(),
});

export const instancesStart = contract({
  name: 'instances.start',
  toolset: 'admin',
  access: 'machine',
  title: 'Start an agent',
  description: 'Start an agent in its own worktree and session, with its own token.',
  input: z.strictObject({
    repository_path: repositoryPath.optional(),
    type: z.enum(['coding', 'planning']),
    issue: z.int().min(1).max(999_999_999).optional(),
    prompt: text(32_000).optional().describe("The agent's task, or more instructions for the issue."),
    agent: title.max(40).default('claude').describe('Launcher: claude, codex, gemini, opencode, or one from config.toml.'),
    base_branch: z.string().trim().min(1).max(300).optional().describe('Default: the branch that is checked out.'),
  }),
  output: instanceView,
  annotations: { openWorldHint: true },
});

export const instancesList = contract({
  name: 'instances.list',
  ...MEMBER_READ,
  title: 'List instances',
  description: 'List agents that the server started, newest first.',
  input: z.strictObject({
    status: z.array(z.enum(INSTANCE_STATUSES)).min(1).optional(),
    type: z.enum(INSTANCE_TYPES).optional(),
    repository: title.optional().describe('Repository name: the last part of its path.'),
    limit: z.int().min(1).max(500).default(100),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({ items: z.array(instanceView), total: z.int() }),
});

export const relationshipView = z.strictObject({
  parent_instance: z.string(),
  child_instance: z.string(),
  relationship_type: z.string(),
  review_iteration: z.int(),
  outcome: z.string().nullable(),
  created_at: z.int(),
  ended_at: z.int().nullable(),
});

export const instancesShow = contract({
  name: 'instances.show',
  ...MEMBER_READ,
  title: 'Show an instance',
  description: 'Show one instance with its reviews, their feedback and its failed calls of review tools.',
  input: z.strictObject({ instance_id: instanceId }),
  output: z.strictObject({
    instance: instanceView,
    prompt: z.string().nullable(),
    attach: z.array(z.string()).nullable().describe("Command that shows the agent's terminal if you run it on the machine of the instance."),
    relationships: z.array(relationshipView),
    feedback: z.array(feedbackView),
    failures: z
      .array(
        z.strictObject({
          time: z.int(),
          tool: z.string(),
          code: z.string().nullable(),
          request_id: z.string(),
          branch: z.string(),
          commit: z.string().nullable(),
        }),
      )
      .describe('Failed calls of review tools, newest first, with the branch and commit at the time of the call.'),
  }),
});

export const instancesLogs = contract({
  ...OPERATOR_READ,
  name: 'instances.logs',
  title: "Read an instance's output",
  description: "Read the last lines of the agent's terminal or log.",
  input: z.strictObject({ instance_id: instanceId, lines: z.int().min(1).max(10_000).default(200) }),
  output: z.strictObject({ instance_id: z.string(), text: z.string(), running: z.boolean() }),
});

export const instancesMessage = contract({
  name: 'instances.message',
  toolset: 'admin',
  access: 'machine',
  title: 'Message an agent',
  description: "Send a message to the agent's inbox and type it into its terminal. An agent that has no terminal or has ended is restarted with the message.",
  input: z.strictObject({ instance_id: instanceId, message: text(8_000) }),
  output: z.strictObject({
    instance_id: z.string(),
    message_id: z.string(),
    reaches: z
      .enum(['terminal', 'next_start'])
      .describe('terminal: typed into the terminal within seconds. next_start: given to the agent when its program starts again.'),
  }),
});

export const instancesAllowReview = contract({
  name: 'instances.allow_review',
  toolset: 'admin',
  title: 'Allow one more review',
  description: 'Raise the review limit of this instance by one, or withdraw an unused extra review. Its agent is notified.',
  input: z.strictObject({ instance_id: instanceId, withdraw: z.boolean().default(false) }),
  output: instanceView,
});

const lines = z.int().nullable().describe('Null if the file has no lines, or too many lines to count.');

const changedFile = z.strictObject({
  path: z.string(),
  before: z.string().nullable().describe('Path of the file before the change.'),
  change: z.enum(['added', 'modified', 'deleted', 'renamed', 'conflict', 'repository']).describe('repository: a nested repository or a submodule.'),
  added: lines,
  removed: lines,
  binary: z.boolean(),
  uncommitted: z.boolean().describe('Whether part of the change is not committed.'),
});

const patchLine = z.strictObject({
  kind: z.enum(['hunk', 'context', 'added', 'removed', 'note']),
  before: z.int().nullable().describe('Line number in the old file.'),
  after: z.int().nullable().describe('Line number in the new file.'),
  text: z.string(),
  cut: z.int().describe('Number of characters cut off.'),
});

export type PatchLine = z.output<typeof patchLine>;

export const instancesDiff = contract({
  ...OPERATOR_READ,
  name: 'instances.diff',
  title: "Show an instance's changes",
  description: 'List the files that the instance has changed, including uncommitted changes. With `path`, show the changed lines of that file.',
  input: z.strictObject({
    instance_id: instanceId,
    path: z.string().min(1).max(4_096).optional().describe('One of the changed files.'),
    offset: z.int().min(0).default(0).describe('First line to return.'),
  }),
  output: z.strictObject({
    instance_id: z.string(),
    of: z
      .enum(['worktree', 'branch', 'backup'])
      .describe('Source of the changes. If the worktree is gone, they are read from the branch, or from the backup of the worktree.'),
    branch: z.string(),
    base_branch: z.string(),
    from: z.string().describe('Commit with which the work is compared.'),
    files: z.array(changedFile).describe('First files, by path.'),
    total: z.int(),
    added: z.int(),
    removed: z.int(),
    uncommitted: z.int().describe('Number of files with uncommitted changes.'),
    file: z
      .strictObject({
        ...changedFile.shape,
        lines: z.array(patchLine),
        offset: z.int(),
        total_lines: z.int().nullable().describe('Null if there are too many lines to show.'),
      })
      .nullable()
      .describe('The requested file.'),
  }),
});

export const instancesSizes = contract({
  name: 'instances.sizes',
  ...MEMBER_READ,
  title: 'Show change sizes',
  description: 'Show how many files and lines each instance has changed. The numbers may be some seconds old. Instances without a known number are left out.',
  input: z.strictObject({ instance_ids: z.array(instanceId).max(100) }),
  output: z.strictObject({
    items: z.array(z.strictObject({ instance_id: z.string(), files: z.int(), added: z.int(), removed: z.int() })),
  }),
});

export const instancesUnsaved = contract({
  ...OPERATOR_READ,
  name: 'instances.unsaved',
  title: 'Show unsaved work of an instance',
  description: 'Show the uncommitted and unpushed work in the worktree, and the git ref to which a forced removal would back it up.',
  input: z.strictObject({ instance_id: instanceId }),
  output: z.strictObject({
    instance_id: z.string(),
    worktree: z.enum(['there', 'gone']),
    uncommitted: z.int().describe('Number of files with uncommitted changes.'),
    unpushed: z.int().describe('Number of commits that are neither in the base branch nor on a remote.'),
    kept_reason: z.string().nullable().describe('Why the worktree would be kept. Null if it would be removed.'),
    backup_ref: z.string().describe('Git ref to which `covenant instances clean --force` would back up the work.'),
    review: z.string().nullable().describe('Id of the review that would end together with the instance.'),
  }),
});

const ending = z.strictObject({
  instance: instanceView,
  worktree: z.enum(['removed', 'kept']),
  reason: z.string().nullable(),
  backup_ref: z.string().nullable(),
});

export const instancesStop = contract({
  name: 'instances.stop',
  toolset: 'admin',
  title: 'Stop an instance',
  description: 'Stop the agent of an instance. The worktree is removed if no work would be lost.',
  input: z.strictObject({ instance_id: instanceId, reason: text(500).optional() }),
  output: ending,
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const instancesAbandon = contract({
  name: 'instances.abandon',
  toolset: 'admin',
  title: 'Abandon an instance',
  description: 'Abandon the work of an instance. Its agent and its reviews stop. The worktree is removed if no work would be lost.',
  input: z.strictObject({ instance_id: instanceId, reason: text(500).optional() }),
  output: ending,
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const instancesClean = contract({
  name: 'instances.clean',
  toolset: 'admin',
  title: "Remove an ended instance's worktree",
  description: 'Remove a worktree that was kept when its instance ended. With `force`, unsaved work is saved in a backup ref and then removed too.',
  input: z.strictObject({ instance_id: instanceId, force: z.boolean().default(false) }),
  output: ending,
  annotations: { destructiveHint: true },
});

const orphan = z.strictObject({
  kind: z.enum(['session', 'worktree']),
  /** The name of the session, or of the worktree's folder. */
  name: z.string(),
  path: z.string().nullable(),
  branch: z.string().nullable(),
  reason: z.string().nullable().describe('Why removing it would lose work.'),
  command: z.array(z.string()).nullable().describe('Command that removes the session or worktree; null if a person must decide.'),
});

export type Orphan = z.output<typeof orphan>;

export const instancesOrphans = contract({
  name: 'instances.orphans',
  toolset: 'admin',
  access: 'server',
  title: 'List leftover sessions and worktrees',
  description: 'List sessions and worktrees on this machine that belong to no current instance, in all workspaces.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(orphan) }),
  annotations: READ,
});

export const instancesClearOrphans = contract({
  name: 'instances.clear_orphans',
  toolset: 'admin',
  access: 'server',
  title: 'Clear leftover sessions and worktrees',
  description: 'End leftover sessions, and remove leftover worktrees without unsaved work.',
  input: z.strictObject({
    force: absolutePath.optional().describe('Path of a worktree to remove even if it contains unsaved work. The work is saved in a backup ref first.'),
  }),
  output: z.strictObject({ items: z.array(orphan.extend({ cleared: z.boolean(), backup_ref: z.string().nullable() })) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});
