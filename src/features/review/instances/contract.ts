import { z } from 'zod';
import { absolutePath, contract, MEMBER_READ, OPERATOR_READ, READ, repositoryPath, text, title } from '../../../kernel/contract.ts';
import { INSTANCE_ID } from './names.ts';

export const INSTANCE_TYPES = ['coding', 'review', 'planning'] as const;
export type InstanceType = (typeof INSTANCE_TYPES)[number];

export const INSTANCE_STATUSES = ['started', 'waiting_review', 'pr_created', 'pr_merged', 'pr_closed', 'terminated', 'abandoned'] as const;
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** What is being done to it on the machine; null: nothing. A step that is overdue is taken over by the sweep. */
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

/** As it is listed. */
export const instanceView = z.strictObject({
  id: z.string(),
  type: z.enum(INSTANCE_TYPES),
  status: z.enum(INSTANCE_STATUSES),
  agent: z.string(),
  agent_id: z.string(),
  developer: z.string().nullable().describe('For whom it works.'),
  repository: z.string(),
  branch: z.string(),
  base_branch: z.string(),
  worktree_path: z.string(),
  machine: z.string().describe('Where it runs: host and home of its server.'),
  session_name: z.string(),
  session_kind: z.enum(['tmux', 'process']).nullable(),
  running: z.boolean().describe('Its agent runs, as far as was seen last.'),
  issue_number: z.int().nullable(),
  pr_number: z.int().nullable(),
  pr_url: z.string().nullable(),
  parent_instance_id: z.string().nullable(),
  review_iteration: z.int().nullable().describe('Of a review: for which time.'),
  reviews: z.int().describe('Reviews that ran.'),
  max_reviews: z.int().describe('Reviews that it may have, those that a person has allowed included.'),
  extra_reviews: z.int().describe('Of these, those that a person has allowed.'),
  failed_reviews: z.int(),
  max_failed_reviews: z.int().describe('So many failed reviews, and it is abandoned.'),
  at_limit: z.boolean(),
  suggestions: z.array(z.string()).describe('What to do at the review limit.'),
  status_reason: z.string().nullable(),
  kept_reason: z.string().nullable().describe('Why its worktree is still there.'),
  backup_ref: z.string().nullable().describe('Where a forced removal kept what was in its worktree.'),
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
  description: 'Starts an agent in a worktree and session of its own, with a token of its own.',
  input: z.strictObject({
    repository_path: repositoryPath.optional(),
    type: z.enum(['coding', 'planning']),
    issue: z.int().min(1).max(999_999_999).optional(),
    prompt: text(32_000).optional().describe('What to do; with an issue, what to say besides.'),
    agent: title.max(40).default('claude').describe('A launcher: claude, codex, gemini, opencode, or one of config.toml.'),
    base_branch: z.string().trim().min(1).max(300).optional().describe('Default: the branch that is checked out.'),
  }),
  output: instanceView,
  annotations: { openWorldHint: true },
});

export const instancesList = contract({
  name: 'instances.list',
  ...MEMBER_READ,
  title: 'Agents that the server started',
  description: 'Instances, the newest first.',
  input: z.strictObject({
    status: z.array(z.enum(INSTANCE_STATUSES)).min(1).optional(),
    type: z.enum(INSTANCE_TYPES).optional(),
    repository: title.optional().describe('What people call it: the last part of its path.'),
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
  title: 'An instance',
  description: 'One instance with its reviews, their feedback, and what went wrong.',
  input: z.strictObject({ instance_id: instanceId }),
  output: z.strictObject({
    instance: instanceView,
    prompt: z.string().nullable(),
    attach: z.array(z.string()).nullable().describe('The command that shows its terminal, on its machine.'),
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
      .describe('Calls of review tools that failed, with where its work stood; the newest first.'),
  }),
});

export const instancesLogs = contract({
  ...OPERATOR_READ,
  name: 'instances.logs',
  title: 'Output of an instance',
  description: 'The end of what its terminal or log shows.',
  input: z.strictObject({ instance_id: instanceId, lines: z.int().min(1).max(10_000).default(200) }),
  output: z.strictObject({ instance_id: z.string(), text: z.string(), running: z.boolean() }),
});

export const instancesMessage = contract({
  name: 'instances.message',
  toolset: 'admin',
  access: 'machine',
  title: 'Message an agent',
  description:
    'Puts a message into the inbox of its agent, and types it into its terminal. Without a terminal, or without an agent that runs, it is started with it.',
  input: z.strictObject({ instance_id: instanceId, message: text(8_000) }),
  output: z.strictObject({
    instance_id: z.string(),
    message_id: z.string(),
    reaches: z.enum(['terminal', 'next_start']).describe('Typed within seconds; or told when its program is started again.'),
  }),
});

export const instancesAllowReview = contract({
  name: 'instances.allow_review',
  toolset: 'admin',
  title: 'Allow one more review',
  description: 'Raises the review limit of this one instance by one, or takes back what was raised and not used. Its agent is told.',
  input: z.strictObject({ instance_id: instanceId, withdraw: z.boolean().default(false) }),
  output: instanceView,
});

const lines = z.int().nullable().describe('Null where it has no lines, or more than are counted.');

const changedFile = z.strictObject({
  path: z.string(),
  before: z.string().nullable().describe('What it was called before.'),
  change: z.enum(['added', 'modified', 'deleted', 'renamed', 'conflict', 'repository']).describe('repository: another one that lies in it, or a submodule.'),
  added: lines,
  removed: lines,
  binary: z.boolean(),
  uncommitted: z.boolean().describe('Not all of the change is in a commit.'),
});

const patchLine = z.strictObject({
  kind: z.enum(['hunk', 'context', 'added', 'removed', 'note']),
  before: z.int().nullable().describe('Its number in the file as it was.'),
  after: z.int().nullable().describe('Its number in the file as it is.'),
  text: z.string(),
  cut: z.int().describe('So many characters more than are shown.'),
});

export type PatchLine = z.output<typeof patchLine>;

export const instancesDiff = contract({
  ...OPERATOR_READ,
  name: 'instances.diff',
  title: 'What an instance has changed',
  description: 'The files that differ from where its work began, also what is not committed; with a path, the changed lines of that file.',
  input: z.strictObject({
    instance_id: instanceId,
    path: z.string().min(1).max(4_096).optional().describe('One of the files.'),
    offset: z.int().min(0).default(0).describe('Of its lines, from this one on.'),
  }),
  output: z.strictObject({
    instance_id: z.string(),
    of: z.enum(['worktree', 'branch', 'backup']).describe('Where its work was found: the worktree, else the branch, else what was kept of a removed worktree.'),
    branch: z.string(),
    base_branch: z.string(),
    from: z.string().describe('The commit that it is compared with.'),
    files: z.array(changedFile).describe('The first of them, by path.'),
    total: z.int(),
    added: z.int(),
    removed: z.int(),
    uncommitted: z.int().describe('Files with something that is in no commit.'),
    file: z
      .strictObject({
        ...changedFile.shape,
        lines: z.array(patchLine),
        offset: z.int(),
        total_lines: z.int().nullable().describe('Null: more than can be shown here.'),
      })
      .nullable()
      .describe('The file that was asked for.'),
  }),
});

export const instancesSizes = contract({
  name: 'instances.sizes',
  ...MEMBER_READ,
  title: 'How much instances have changed',
  description: 'Files and lines that differ from where their work began, as read some seconds ago at most. Those are left out of which it is not known here.',
  input: z.strictObject({ instance_ids: z.array(instanceId).max(100) }),
  output: z.strictObject({
    items: z.array(z.strictObject({ instance_id: z.string(), files: z.int(), added: z.int(), removed: z.int() })),
  }),
});

export const instancesUnsaved = contract({
  ...OPERATOR_READ,
  name: 'instances.unsaved',
  title: 'What would be lost with an instance',
  description: 'What in its worktree is in no commit or on no remote, and where a forced removal would keep it.',
  input: z.strictObject({ instance_id: instanceId }),
  output: z.strictObject({
    instance_id: z.string(),
    worktree: z.enum(['there', 'gone']),
    uncommitted: z.int().describe('Files.'),
    unpushed: z.int().describe('Commits that are neither in the base branch nor on a remote.'),
    kept_reason: z.string().nullable().describe('Why the worktree would stay; null: it would be removed.'),
    backup_ref: z.string().describe('Under which covenant instances clean --force would keep what is in it.'),
    review: z.string().nullable().describe('The review that would end with it.'),
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
  description: 'Ends its agent; the worktree goes if nothing in it would be lost.',
  input: z.strictObject({ instance_id: instanceId, reason: text(500).optional() }),
  output: ending,
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const instancesAbandon = contract({
  name: 'instances.abandon',
  toolset: 'admin',
  title: 'Abandon an instance',
  description: 'Gives its work up: agent and reviews end; the worktree goes if nothing in it would be lost.',
  input: z.strictObject({ instance_id: instanceId, reason: text(500).optional() }),
  output: ending,
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const instancesClean = contract({
  name: 'instances.clean',
  toolset: 'admin',
  title: 'Remove the worktree of an ended instance',
  description: 'Removes what was kept. With force also where work would be lost; a backup ref keeps that.',
  input: z.strictObject({ instance_id: instanceId, force: z.boolean().default(false) }),
  output: ending,
  annotations: { destructiveHint: true },
});

const orphan = z.strictObject({
  kind: z.enum(['session', 'worktree']),
  /** Of the session, or of the worktree's folder. */
  name: z.string(),
  path: z.string().nullable(),
  branch: z.string().nullable(),
  reason: z.string().nullable().describe('Why it is not simply taken away: work would be lost.'),
  command: z.array(z.string()).nullable().describe('What mends it; null where a person has to look.'),
});

export type Orphan = z.output<typeof orphan>;

export const instancesOrphans = contract({
  name: 'instances.orphans',
  toolset: 'admin',
  access: 'server',
  title: 'What no instance needs',
  description: 'Sessions and worktrees of instances that are over, or that nobody knows of, on this machine; of all workspaces.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(orphan) }),
  annotations: READ,
});

export const instancesClearOrphans = contract({
  name: 'instances.clear_orphans',
  toolset: 'admin',
  access: 'server',
  title: 'Clear what no instance needs',
  description: 'Ends such sessions, and removes such worktrees where nothing is lost by it.',
  input: z.strictObject({ force: absolutePath.optional().describe('A worktree that is removed all the same; a backup ref keeps what is in it.') }),
  output: z.strictObject({ items: z.array(orphan.extend({ cleared: z.boolean(), backup_ref: z.string().nullable() })) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});
