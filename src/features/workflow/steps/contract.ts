import { z } from 'zod';
import { contract, details, id, READ, text } from '../../../kernel/contract.ts';
import { checkpointView, files, reason, taskView, workflowSummary, writer } from '../workflows/contract.ts';

/** At most this many checkpoints are listed at a time. */
export const MAX_CHECKPOINTS = 1_000;
export const SUMMARY_CHARACTERS = 4_000;
const DEFAULT_AVAILABLE = 20;
const MAX_AVAILABLE = 200;

const success = z.literal(true);
const ownAgent = id.describe('Your agent, from agent_register.');

const taskPlan = z.strictObject({
  approach: text(20_000),
  steps: z.array(text(2_000)).max(500),
  files_to_modify: files.optional(),
  files_to_create: files.optional(),
  context_needed: z.array(text(1_000)).max(200).optional().describe('What the next agent on the task must read first.'),
});

export const taskGet = contract({
  name: 'task_get',
  toolset: 'workflow',
  title: 'Look at a task',
  description: 'One task with its plan, context, outcome and claim. To resume work after a loss of context, task_load_context returns more for fewer tokens.',
  input: z.strictObject({
    id,
    include_checkpoints: z.boolean().default(false),
    checkpoint_limit: z.int().min(1).max(1_000_000).optional().describe('Return only this many newest. Default: all.'),
  }),
  output: taskView.extend({
    checkpoints: z.array(checkpointView).optional().describe('Oldest first.'),
    checkpoints_more: z.int().optional().describe('Number that did not fit: use checkpoint_list.'),
  }),
  annotations: READ,
});

export const taskSetPlan = contract({
  name: 'task_set_plan',
  toolset: 'workflow',
  title: 'Set the plan of a task',
  description: 'Stores the plan of a task in planning, and adds to its context. Then set it to in_progress with task_update_status.',
  input: z.strictObject({
    id,
    plan: taskPlan,
    context: details.optional().describe('Merged into the stored context field by field; existing fields are replaced.'),
    ...writer,
  }),
  output: z.strictObject({ success }),
  annotations: { idempotentHint: true },
});

export const taskUpdateStatus = contract({
  name: 'task_update_status',
  essential: true,
  toolset: 'workflow',
  title: 'Update the status of a task',
  description:
    'Changes the status: pending → planning → in_progress → completed, paused or failed; paused → in_progress; failed → pending or skipped. completed needs an outcome; failed needs an error, which is stored as an error checkpoint; both end the claim. A refused change names the allowed ones. If all_complete is true, the workflow has nothing left: set it to completed with workflow_update_status.',
  input: z.strictObject({
    id,
    status: taskView.shape.status.describe('blocked is computed from dependencies and cannot be set.'),
    outcome: z.string().trim().max(20_000).optional().describe('The result, for dependent tasks. Required for completed.'),
    outcome_detail: details.optional(),
    error: z.string().trim().max(20_000).optional().describe('What went wrong. Required for failed.'),
    ...writer,
  }),
  output: z.strictObject({
    success,
    changed: z.boolean().describe('False: the task already had that status.'),
    workflow_status: workflowSummary.shape.status,
    all_complete: z.boolean().optional().describe('Given with completed or skipped. True if all workflow tasks have these statuses.'),
  }),
  annotations: { idempotentHint: true },
});

export const taskReplan = contract({
  name: 'task_replan',
  toolset: 'workflow',
  title: 'Replan a task',
  description:
    'Gives a failed task, or one in progress, a new plan. It goes back to pending without outcome and claim, so that any agent can claim it; the old plan stays in a replan checkpoint. To continue yourself, claim it again with task_claim.',
  input: z.strictObject({ id, reason, new_plan: taskPlan, ...writer }),
  output: z.strictObject({ success, checkpoint_id: z.string() }),
});

export const checkpointAdd = contract({
  name: 'checkpoint_add',
  essential: true,
  toolset: 'workflow',
  title: 'Add a checkpoint',
  description:
    'Records progress on a task, so that another agent can continue from there: what was done, decided or went wrong, in a sentence or two, plus details and files. Add one whenever losing your context would lose more than a few minutes of work. Repeating the call adds another.',
  input: z.strictObject({
    task_id: id,
    type: checkpointView.shape.type,
    summary: text(SUMMARY_CHARACTERS),
    detail: details.optional(),
    files_changed: files.optional(),
    ...writer,
  }),
  output: z.strictObject({ id: z.string(), sequence: z.int() }),
});

export const checkpointList = contract({
  name: 'checkpoint_list',
  toolset: 'workflow',
  title: 'List checkpoints',
  description: 'The checkpoints of a task in order. If there are more, continue with the last sequence as since_sequence.',
  input: z.strictObject({
    task_id: id,
    type: z.array(checkpointView.shape.type).min(1).max(checkpointView.shape.type.options.length).optional(),
    since_sequence: z.int().min(0).max(2_147_483_647).optional().describe('Only later checkpoints.'),
    limit: z.int().min(1).max(MAX_CHECKPOINTS).optional(),
  }),
  output: z.strictObject({ checkpoints: z.array(checkpointView), more: z.boolean() }),
  annotations: READ,
});

export const taskClaim = contract({
  name: 'task_claim',
  toolset: 'workflow',
  title: 'Claim a task',
  description:
    'Claims the task for your agent if it is free. If several claim it at the same time, one succeeds; the others get success false and already_claimed_by. The claim is a lease: call agent_heartbeat every 30 seconds, or after 90 seconds of silence others may take the task. Send the fence with writes, so that late writes are refused. Claiming your own task again renews the lease. In a workflow with auto_create_workspaces, work in the workspace that the answer names.',
  input: z.strictObject({ task_id: id, agent_id: ownAgent }),
  output: z.strictObject({
    success: z.boolean(),
    already_claimed_by: z.string().optional(),
    lease_expires_at: z.int().optional(),
    fence: z.int().optional(),
    workspace: z
      .strictObject({
        id: z.string(),
        path: z.string(),
        branch: z.string(),
        base_branch: z.string().nullable(),
        unmerged_dependencies: z.array(z.string()).optional().describe('Dependencies whose branches are not merged yet.'),
      })
      .optional(),
  }),
  annotations: { idempotentHint: true },
});

export const taskRelease = contract({
  name: 'task_release',
  essential: true,
  toolset: 'workflow',
  title: 'Release a task',
  description: 'Releases a claimed task without finishing it. It goes back to pending; plan and checkpoints stay for the next agent.',
  input: z.strictObject({ task_id: id, agent_id: ownAgent, reason: reason.optional(), fence: writer.fence }),
  output: z.strictObject({ success }),
});

export const taskGetAvailable = contract({
  name: 'task_get_available',
  toolset: 'workflow',
  title: 'Find work for an agent',
  description:
    'Tasks that your agent can claim now: unclaimed, unblocked, needing no capability that it lacks. Oldest workflows first, those at max_parallel_tasks last. Claim one with task_claim.',
  input: z.strictObject({
    agent_id: ownAgent,
    workflow_id: id.optional(),
    limit: z.int().min(1).max(MAX_AVAILABLE).default(DEFAULT_AVAILABLE),
  }),
  output: z.strictObject({ tasks: z.array(taskView) }),
  annotations: READ,
});
