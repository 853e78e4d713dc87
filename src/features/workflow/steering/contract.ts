import { z } from 'zod';
import { absolutePath, contract, id, MEMBER_READ, text } from '../../../kernel/contract.ts';
import { listQuestions } from '../messages/contract.ts';
import { loadContext } from '../recovery/contract.ts';
import { checkpointView, createWorkflowContract, maxParallel, name, reason, TASK_STATUSES, taskView, workflowSummary } from '../workflows/contract.ts';

/** Actions by which people look at workflows and steer them, by the same rules as agents; allowed by role instead of by grant. */

/** How the time ended in which an agent held a task. `lost`: the agent was silent until the lease ran out. */
export const SPAN_ENDS = ['open', 'completed', 'failed', 'skipped', 'released', 'lost', 'replanned'] as const;

const steer = { toolset: 'admin', access: 'operator' } as const;

const workflowId = id.describe('The workflow, or the end of its id.');
const taskId = id.describe('The task, or the end of its id.');
const taskStatus = z.enum(TASK_STATUSES);
const why = reason.optional().describe('Kept on record.');
const more = z.int().describe('How many more there are than are told.');

const neighbour = z.strictObject({ id: z.string(), name: z.string(), status: taskStatus });
const counts = z.strictObject({ total: z.int(), done: z.int(), running: z.int(), failed: z.int(), waiting: z.int() });

export const workflowsGraph = contract({
  ...MEMBER_READ,
  name: 'workflows.graph',
  title: 'Graph of a workflow',
  description:
    'What waits for what, laid out in layers from left to right. A large workflow is folded by parallel group; groups in which something failed are open.',
  input: z.strictObject({
    workflow_id: workflowId,
    turned: z.array(z.string().max(100)).max(100).default([]).describe('Keys of groups that are to be open instead of folded, or folded instead of open.'),
  }),
  output: z.strictObject({
    workflow_id: z.string(),
    nodes: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        layer: z.int(),
        row: z.int(),
        critical: z.boolean().describe('On the longest chain of what is left to do.'),
        key: z.string().nullable().describe('Of the group that this is, or that it is a task of and can be folded into.'),
        group: z.string().nullable(),
        task: z
          .strictObject({ status: taskStatus, sequence: z.int(), agent_name: z.string().nullable(), asks: z.boolean().describe('It waits for a person.') })
          .nullable()
          .describe('Null: several tasks, folded.'),
        counts: counts.nullable().describe('Of what is folded.'),
      }),
    ),
    edges: z.array(z.strictObject({ from: z.int(), to: z.int(), critical: z.boolean() })).describe('Between places in the list of nodes.'),
    edges_hidden: z.int().describe('Those that others imply, or that are too many to draw.'),
    tasks: z.int().describe('How many tasks the workflow has.'),
    folded: z.boolean(),
    critical_length: z.int().describe('How many tasks the longest chain of what is left has.'),
  }),
});

export const workflowsTimeline = contract({
  ...MEMBER_READ,
  name: 'workflows.timeline',
  title: 'Timeline of a workflow',
  description:
    'Who had which task when, how each time ended, and when the workflow itself was set going, paused or ended. Of a large workflow the last changed tasks.',
  input: z.strictObject({ workflow_id: workflowId }),
  output: z.strictObject({
    workflow_id: z.string(),
    lanes: z.array(
      z.strictObject({
        agent_id: z.string().nullable().describe('Null: worked on without a claim.'),
        agent_name: z.string().nullable(),
        agent_page: z.string().nullable().describe('Its id among the agents at work; null where it is private.'),
        lease_expires_at: z.int().nullable().describe('Until when its claims hold if nothing more is heard of it.'),
        spans: z.array(
          z.strictObject({
            task_id: z.string(),
            task_name: z.string(),
            from: z.int(),
            until: z.int().nullable(),
            end: z.enum(SPAN_ENDS),
            reclaimed: z.boolean(),
            waits: z.array(z.strictObject({ from: z.int(), until: z.int().nullable() })).describe('While it waited for a person.'),
          }),
        ),
      }),
    ),
    turns: z.array(z.strictObject({ time: z.int(), to: z.string(), reason: z.string().nullable() })).describe('What the workflow itself was set to.'),
    now: z.int(),
    spans_more: more,
    tasks_more: more,
  }),
});

export const workflowsTask = contract({
  ...MEMBER_READ,
  name: 'workflows.task',
  title: 'A task of a workflow',
  description: 'A task with its plan, its claim, what it waits for and what waits for it, and the question that it waits with.',
  input: z.strictObject({ task_id: taskId }),
  output: z.strictObject({
    task: taskView,
    workflow: workflowSummary.pick({ id: true, name: true, status: true }),
    claim: z
      .strictObject({
        agent_id: z.string(),
        agent_name: z.string(),
        agent_page: z.string().nullable().describe('Its id among the agents at work; null where it is private.'),
        fence: z.int(),
        claimed_at: z.int().nullable(),
        lease_expires_at: z.int().nullable().describe('Null: its agent is offline, and the claim about to be taken away.'),
      })
      .nullable(),
    completed_by: z.string().nullable().describe('What the agent is called that completed it.'),
    dependencies: z.array(neighbour),
    dependencies_more: more,
    dependents: z.array(neighbour),
    dependents_more: more,
    unmet: z.array(neighbour).describe('From what it waits for to what holds it up in the end, which is the last.'),
    unmet_length: z.int().describe('How long that chain is; of a longer one the first and the last are told.'),
    question: listQuestions.output.shape.items.element.nullable().describe('The question to a person that it waits with.'),
  }),
});

export const workflowsCheckpoints = contract({
  ...MEMBER_READ,
  name: 'workflows.checkpoints',
  title: 'Checkpoints of a task',
  description: 'What was put on record while a task was worked on, the newest first.',
  input: z.strictObject({
    task_id: taskId,
    before: z.int().min(1).max(2_147_483_647).optional().describe('Only those with a lower sequence.'),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: z.strictObject({
    items: z.array(
      checkpointView.omit({ detail: true }).extend({ agent_name: z.string().nullable(), detail: z.string().nullable().describe('The beginning of its JSON.') }),
    ),
    more: z.boolean(),
  }),
});

export const workflowsContext = contract({
  ...MEMBER_READ,
  name: 'workflows.context',
  title: 'Context of a task',
  description: 'What an agent would get that takes the task up now: how the tokens are shared out, what was cut, and the pack itself.',
  input: z.strictObject({ task_id: taskId, max_tokens: z.int().min(1).max(50_000).default(8_000) }),
  output: z.strictObject({
    max_tokens: z.int(),
    tokens: z.int().describe('Of the whole pack.'),
    sections: z.array(z.strictObject({ name: z.enum(['workflow', 'current', 'prior', 'related']), share: z.int().describe('In percent.'), tokens: z.int() })),
    omitted: loadContext.output.shape.omitted,
    pack: loadContext.output,
  }),
});

const workflowAnswer = z.strictObject({
  workflow_id: z.string(),
  name: z.string(),
  status: workflowSummary.shape.status,
  changed: z.boolean().describe('False: it was so already.'),
  claims: z.int().describe('How many tasks agents hold now.'),
});

export const createByHand = contract({
  ...steer,
  name: 'workflows.create',
  title: 'Create a workflow',
  description: 'A workflow from a prompt, for an agent to plan.',
  input: z.strictObject({ name, prompt: text(200_000), repository_path: absolutePath, max_parallel_tasks: maxParallel.default(1) }),
  output: createWorkflowContract.output,
});

const ofWorkflow = z.strictObject({ workflow_id: workflowId, reason: why });

export const pauseWorkflow = contract({
  ...steer,
  name: 'workflows.pause',
  title: 'Pause a workflow',
  description: 'No further task of it is taken up; whoever has one goes on with it.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true },
});

export const resumeWorkflow = contract({
  ...steer,
  name: 'workflows.resume',
  title: 'Resume a workflow',
  description: 'Its tasks can be taken up: of one that is ready, paused or failed.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true },
});

export const completeWorkflow = contract({
  ...steer,
  name: 'workflows.complete',
  title: 'Complete a workflow',
  description: 'Ends it as done. Every claim in it ends.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true },
});

export const abandonWorkflow = contract({
  ...steer,
  name: 'workflows.abandon',
  title: 'Abandon a workflow',
  description: 'Gives it up for good. Every claim in it ends, and its tasks stay as they were left.',
  input: ofWorkflow,
  output: workflowAnswer,
  annotations: { idempotentHint: true, destructiveHint: true },
});

export const setParallelismByHand = contract({
  ...steer,
  name: 'workflows.set_parallelism',
  title: 'Set the parallelism of a workflow',
  description: 'How many of its tasks may be claimed at once. What is claimed already stays claimed.',
  input: z.strictObject({ workflow_id: workflowId, max_parallel_tasks: maxParallel }),
  output: z.strictObject({ workflow_id: z.string(), from: z.int(), max_parallel_tasks: z.int() }),
  annotations: { idempotentHint: true },
});

const taskAnswer = z.strictObject({ task_id: z.string(), name: z.string(), workflow_id: z.string(), status: taskStatus, changed: z.boolean() });

export const retryTask = contract({
  ...steer,
  name: 'workflows.retry',
  title: 'Retry a task',
  description: 'A failed task can be taken up again. What went wrong stays among its checkpoints.',
  input: z.strictObject({ task_id: taskId }),
  output: taskAnswer,
  annotations: { idempotentHint: true },
});

export const skipTask = contract({
  ...steer,
  name: 'workflows.skip',
  title: 'Skip a task',
  description: 'A failed task is given up, and whoever waits for it waits no longer.',
  input: z.strictObject({ task_id: taskId, reason: why }),
  output: taskAnswer,
  annotations: { idempotentHint: true },
});

export const releaseClaim = contract({
  ...steer,
  name: 'workflows.release',
  title: 'Release the claim of a task',
  description: 'Takes a task from the agent that holds it: it can be taken up by another, and what the first still writes to it is refused.',
  input: z.strictObject({ task_id: taskId, reason: why }),
  output: taskAnswer.extend({ agent_id: z.string().describe('Who held it.') }),
});
