import { z } from 'zod';
import { absolutePath, contract, id, MEMBER_READ, text } from '../../../kernel/contract.ts';
import { listQuestions } from '../messages/contract.ts';
import { loadContext } from '../recovery/contract.ts';
import { checkpointView, createWorkflowContract, maxParallel, name, reason, TASK_STATUSES, taskView, workflowSummary } from '../workflows/contract.ts';

/** Actions with which people view and steer workflows. The rules are the same as for agents; access is by role instead of by grant. */

/** How an agent's time with a task ended. `lost`: the agent was silent until its lease expired. */
export const SPAN_ENDS = ['open', 'completed', 'failed', 'skipped', 'released', 'lost', 'replanned'] as const;

const steer = { toolset: 'admin', access: 'operator' } as const;

const workflowId = id.describe('Id of the workflow, or its end.');
const taskId = id.describe('Id of the task, or its end.');
const taskStatus = z.enum(TASK_STATUSES);
const why = reason.optional().describe('Recorded in the journal.');
const more = z.int().describe('Number of items left out.');

const neighbour = z.strictObject({ id: z.string(), name: z.string(), status: taskStatus });
const counts = z.strictObject({ total: z.int(), done: z.int(), running: z.int(), failed: z.int(), waiting: z.int() });

export const workflowsGraph = contract({
  ...MEMBER_READ,
  name: 'workflows.graph',
  title: 'Graph of a workflow',
  description:
    'The dependencies of tasks, laid out in layers from left to right. A large workflow is folded by parallel group; groups with a failed task are not.',
  input: z.strictObject({
    workflow_id: workflowId,
    turned: z.array(z.string().max(100)).max(100).default([]).describe('Keys of groups to toggle between folded and open.'),
  }),
  output: z.strictObject({
    workflow_id: z.string(),
    nodes: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        layer: z.int(),
        row: z.int(),
        critical: z.boolean().describe('On the longest chain of remaining tasks.'),
        key: z.string().nullable().describe('Key of this group, or of the group that this task can be folded into.'),
        group: z.string().nullable(),
        task: z
          .strictObject({ status: taskStatus, sequence: z.int(), agent_name: z.string().nullable(), asks: z.boolean().describe('Waits for a person.') })
          .nullable()
          .describe('Null: several folded tasks.'),
        counts: counts.nullable().describe('Of the folded tasks.'),
      }),
    ),
    edges: z.array(z.strictObject({ from: z.int(), to: z.int(), critical: z.boolean() })).describe('Indexes in the list of nodes.'),
    edges_hidden: z.int().describe('Edges left out because others imply them or too many exist.'),
    tasks: z.int().describe('Number of tasks in the workflow.'),
    folded: z.boolean(),
    critical_length: z.int().describe('Number of tasks in the longest remaining chain.'),
  }),
});

export const workflowsTimeline = contract({
  ...MEMBER_READ,
  name: 'workflows.timeline',
  title: 'Timeline of a workflow',
  description: 'Which agent held which task when, how that ended, and status changes of the workflow. For a large workflow, only the last changed tasks.',
  input: z.strictObject({ workflow_id: workflowId }),
  output: z.strictObject({
    workflow_id: z.string(),
    lanes: z.array(
      z.strictObject({
        agent_id: z.string().nullable().describe('Null: worked on without a claim.'),
        agent_name: z.string().nullable(),
        agent_page: z.string().nullable().describe('Id of the agent for agents.show; null if it is private.'),
        lease_expires_at: z.int().nullable().describe('When its claims expire if it stays silent.'),
        spans: z.array(
          z.strictObject({
            task_id: z.string(),
            task_name: z.string(),
            from: z.int(),
            until: z.int().nullable(),
            end: z.enum(SPAN_ENDS),
            reclaimed: z.boolean(),
            waits: z.array(z.strictObject({ from: z.int(), until: z.int().nullable() })).describe('Times waiting for a person.'),
          }),
        ),
      }),
    ),
    turns: z.array(z.strictObject({ time: z.int(), to: z.string(), reason: z.string().nullable() })).describe('Status changes of the workflow.'),
    now: z.int(),
    spans_more: more,
    tasks_more: more,
  }),
});

export const workflowsTask = contract({
  ...MEMBER_READ,
  name: 'workflows.task',
  title: 'A task of a workflow',
  description: 'A task with its plan, claim, dependencies, dependents and open question.',
  input: z.strictObject({ task_id: taskId }),
  output: z.strictObject({
    task: taskView,
    workflow: workflowSummary.pick({ id: true, name: true, status: true }),
    claim: z
      .strictObject({
        agent_id: z.string(),
        agent_name: z.string(),
        agent_page: z.string().nullable().describe('Id of the agent for agents.show; null if it is private.'),
        fence: z.int(),
        claimed_at: z.int().nullable(),
        lease_expires_at: z.int().nullable().describe('Null: its agent is offline, and the claim is about to be released.'),
      })
      .nullable(),
    completed_by: z.string().nullable().describe('Name of the agent that completed it.'),
    dependencies: z.array(neighbour),
    dependencies_more: more,
    dependents: z.array(neighbour),
    dependents_more: more,
    unmet: z.array(neighbour).describe('Chain of open dependencies, from a direct one to the root cause.'),
    unmet_length: z.int().describe('Length of that chain. Only the ends of a long chain are listed.'),
    question: listQuestions.output.shape.items.element.nullable().describe('The question to a person that pauses it.'),
  }),
});

export const workflowsCheckpoints = contract({
  ...MEMBER_READ,
  name: 'workflows.checkpoints',
  title: 'Checkpoints of a task',
  description: 'Checkpoints of a task, newest first.',
  input: z.strictObject({
    task_id: taskId,
    before: z.int().min(1).max(2_147_483_647).optional().describe('Only checkpoints with a lower sequence.'),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.strictObject({
    items: z.array(
      checkpointView.omit({ detail: true }).extend({ agent_name: z.string().nullable(), detail: z.string().nullable().describe('Start of its JSON.') }),
    ),
    more: z.boolean(),
  }),
});

export const workflowsContext = contract({
  ...MEMBER_READ,
  name: 'workflows.context',
  title: 'Context of a task',
  description: 'The recovery pack that an agent gets if it claims the task now, with its tokens by section and what was left out.',
  input: z.strictObject({ task_id: taskId, max_tokens: z.int().min(1).max(50_000).default(8_000) }),
  output: z.strictObject({
    max_tokens: z.int(),
    tokens: z.int().describe('Tokens of the whole pack.'),
    sections: z.array(z.strictObject({ name: z.enum(['workflow', 'current', 'prior', 'related']), share: z.int().describe('In percent.'), tokens: z.int() })),
    omitted: loadContext.output.shape.omitted,
    pack: loadContext.output,
  }),
});

const workflowAnswer = z.strictObject({
  workflow_id: z.string(),
  name: z.string(),
  status: workflowSummary.shape.status,
  changed: z.boolean().describe('False: it already had that status.'),
  claims: z.int().describe('Number of claimed tasks.'),
});

export const createByHand = contract({
  ...steer,
  name: 'workflows.create',
  title: 'Create a workflow',
  description: 'Creates a workflow from a prompt, for an agent to plan.',
  input: z.strictObject({ name, prompt: text(200_000), repository_path: absolutePath, max_parallel_tasks: maxParallel.default(1) }),
  output: createWorkflowContract.output,
});

const ofWorkflow = z.strictObject({ workflow_id: workflowId, reason: why });

export const pauseWorkflow = contract({
  ...steer,
  name: 'workflows.pause',
  title: 'Pause a workflow',
  description: 'Stops handing out tasks of the workflow. Tasks in progress continue.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true },
});

export const resumeWorkflow = contract({
  ...steer,
  name: 'workflows.resume',
  title: 'Resume a workflow',
  description: 'Lets agents claim tasks of a ready, paused or failed workflow.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true },
});

export const completeWorkflow = contract({
  ...steer,
  name: 'workflows.complete',
  title: 'Complete a workflow',
  description: 'Completes the workflow and ends every claim in it.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true },
});

export const abandonWorkflow = contract({
  ...steer,
  name: 'workflows.abandon',
  title: 'Abandon a workflow',
  description: 'Abandons the workflow for good and ends every claim in it. Tasks keep their status.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true, destructiveHint: true },
});

export const setParallelismByHand = contract({
  ...steer,
  name: 'workflows.set_parallelism',
  title: 'Set the parallelism of a workflow',
  description: 'Sets how many of its tasks can be claimed at the same time. Existing claims stay.',
  input: z.strictObject({ workflow_id: workflowId, max_parallel_tasks: maxParallel }),
  output: z.strictObject({ workflow_id: z.string(), from: z.int(), max_parallel_tasks: z.int() }),
  annotations: { idempotentHint: true },
});

const taskAnswer = z.strictObject({ task_id: z.string(), name: z.string(), workflow_id: z.string(), status: taskStatus, changed: z.boolean() });

export const retryTask = contract({
  ...steer,
  name: 'workflows.retry',
  title: 'Retry a task',
  description: 'Makes a failed task claimable again. Its error stays in a checkpoint.',
  input: z.strictObject({ task_id: taskId }),
  output: taskAnswer,
  annotations: { idempotentHint: true },
});

export const skipTask = contract({
  ...steer,
  name: 'workflows.skip',
  title: 'Skip a task',
  description: 'Skips a failed task, so that tasks waiting for it can start.',
  input: z.strictObject({ task_id: taskId, reason: why }),
  output: taskAnswer,
  annotations: { idempotentHint: true },
});

export const releaseClaim = contract({
  ...steer,
  name: 'workflows.release',
  title: 'Release the claim of a task',
  description: 'Releases a task from the agent that holds it, so that another can claim it. Later writes of the first agent are refused.',
  input: z.strictObject({ task_id: taskId, reason: why }),
  output: taskAnswer.extend({ agent_id: z.string().describe('The agent that held it.') }),
});
