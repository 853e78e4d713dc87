import { z } from 'zod';
import { absolutePath, contract, id, MEMBER_READ, text } from '../../../kernel/contract.ts';
import { listQuestions } from '../messages/contract.ts';
import { loadContext } from '../recovery/contract.ts';
import { checkpointView, createWorkflowContract, maxParallel, name, reason, TASK_STATUSES, taskView, workflowSummary } from '../workflows/contract.ts';

/** Actions with which people view and steer workflows. The same rules apply as for agents, but access depends on the person's role instead of on a grant. */

/**
 * How a period ended in which an agent held or worked on a task. `open` means that the period continues, and `lost` that the agent was silent until
 * its lease expired.
 */
export const SPAN_ENDS = ['open', 'completed', 'failed', 'skipped', 'released', 'lost', 'replanned'] as const;

const steer = { toolset: 'admin', access: 'operator' } as const;

const workflowId = id.describe('Id of the workflow, or the end of the id.');
const taskId = id.describe('Id of the task, or the end of the id.');
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
    'Tasks and their dependencies, laid out in layers from left to right. In a large workflow, each parallel group is folded into one node unless a task in it failed.',
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
        critical: z.boolean().describe('Whether the node is on the longest chain of remaining tasks.'),
        key: z.string().nullable().describe('Key of this group, or of the group that this task can be folded into.'),
        group: z.string().nullable(),
        task: z
          .strictObject({
            status: taskStatus,
            sequence: z.int(),
            agent_name: z.string().nullable(),
            asks: z.boolean().describe('Waits for a person to answer.'),
          })
          .nullable()
          .describe('Null if the node stands for several folded tasks.'),
        counts: counts.nullable().describe('Numbers of folded tasks.'),
      }),
    ),
    edges: z.array(z.strictObject({ from: z.int(), to: z.int(), critical: z.boolean() })).describe('`from` and `to` are indexes in the list of nodes.'),
    edges_hidden: z.int().describe('Number of edges left out because they follow from other edges or because there are too many.'),
    tasks: z.int().describe('Number of tasks in the workflow.'),
    folded: z.boolean(),
    critical_length: z.int().describe('Number of tasks in the longest remaining chain.'),
  }),
});

export const workflowsTimeline = contract({
  ...MEMBER_READ,
  name: 'workflows.timeline',
  title: 'Timeline of a workflow',
  description:
    'When each agent held which task and how that ended, and the status changes of the workflow. Of a large workflow, only the most recently changed tasks.',
  input: z.strictObject({ workflow_id: workflowId }),
  output: z.strictObject({
    workflow_id: z.string(),
    lanes: z.array(
      z.strictObject({
        agent_id: z.string().nullable().describe('Null if somebody worked on the task without a claim.'),
        agent_name: z.string().nullable(),
        agent_page: z.string().nullable().describe('Id for agents.show; null if the agent belongs to a private developer.'),
        lease_expires_at: z.int().nullable().describe("Time at which the agent's claims expire if it stays silent."),
        spans: z.array(
          z.strictObject({
            task_id: z.string(),
            task_name: z.string(),
            from: z.int(),
            until: z.int().nullable(),
            end: z.enum(SPAN_ENDS),
            reclaimed: z.boolean(),
            waits: z
              .array(z.strictObject({ from: z.int(), until: z.int().nullable() }))
              .describe('Periods in which the task was paused, for example to wait for a person.'),
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
        agent_page: z.string().nullable().describe('Id for agents.show; null if the agent belongs to a private developer.'),
        fence: z.int(),
        claimed_at: z.int().nullable(),
        lease_expires_at: z.int().nullable().describe('Null if the agent is offline. The server then soon releases the claim.'),
      })
      .nullable(),
    completed_by: z.string().nullable().describe('Name of the agent that completed the task.'),
    dependencies: z.array(neighbour),
    dependencies_more: more,
    dependents: z.array(neighbour),
    dependents_more: more,
    unmet: z.array(neighbour).describe('The longest chain of unfinished dependencies, beginning with a direct dependency of the task.'),
    unmet_length: z.int().describe('Number of tasks in that chain. Of a long chain, `unmet` contains only the first tasks and the last one.'),
    question: listQuestions.output.shape.items.element.nullable().describe('The question to a person for which the task is paused.'),
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
      checkpointView
        .omit({ detail: true })
        .extend({ agent_name: z.string().nullable(), detail: z.string().nullable().describe('The beginning of the details, as JSON.') }),
    ),
    more: z.boolean(),
  }),
});

export const workflowsContext = contract({
  ...MEMBER_READ,
  name: 'workflows.context',
  title: 'Context of a task',
  description: 'The recovery pack that an agent would get for the task now, with the number of tokens in each section and what was left out.',
  input: z.strictObject({ task_id: taskId, max_tokens: z.int().min(1).max(50_000).default(8_000) }),
  output: z.strictObject({
    max_tokens: z.int(),
    tokens: z.int().describe('Number of tokens in the whole pack.'),
    sections: z.array(
      z.strictObject({
        name: z.enum(['workflow', 'current', 'prior', 'related']),
        share: z.int().describe('Share of the budget, in percent.'),
        tokens: z.int(),
      }),
    ),
    omitted: loadContext.output.shape.omitted,
    pack: loadContext.output,
  }),
});

const workflowAnswer = z.strictObject({
  workflow_id: z.string(),
  name: z.string(),
  status: workflowSummary.shape.status,
  changed: z.boolean().describe('False if the workflow already had that status.'),
  claims: z.int().describe('Number of claimed tasks.'),
});

export const createByHand = contract({
  ...steer,
  name: 'workflows.create',
  title: 'Create a workflow',
  description: 'Creates a workflow from a prompt. An agent then plans its tasks.',
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
  description: 'Completes the workflow and releases every claim on its tasks.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true },
});

export const abandonWorkflow = contract({
  ...steer,
  name: 'workflows.abandon',
  title: 'Abandon a workflow',
  description: 'Abandons the workflow permanently and releases every claim on its tasks. The tasks keep their status.',
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
  description: 'Sets a failed task back to pending, so that agents can claim it again. A checkpoint keeps the error.',
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
  description: 'Takes a task away from the agent that holds it, so that another agent can claim it. Later writes of the first agent are refused.',
  input: z.strictObject({ task_id: taskId, reason: why }),
  output: taskAnswer.extend({ agent_id: z.string().describe('The agent that held the task.') }),
});
