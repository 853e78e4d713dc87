import { z } from 'zod';
import { contract, id, MEMBER_READ, repo } from '../../../kernel/contract.ts';
import { agentView } from '../agents/contract.ts';
import { listedTask, listWorkflows, nextTasks, progressOf, TASK_STATUSES, workflowSummary, workflowView } from '../workflows/contract.ts';

/** Actions with which people view the work of agents. People see the same data as agents, but access depends on the person's role instead of on a grant. */

const workflowId = id.describe('Id of the workflow, or the end of the id.');
const { repository_path, status } = listWorkflows.input.shape;

export const workflowsList = contract({
  ...MEMBER_READ,
  name: 'workflows.list',
  title: 'Workflows',
  description: 'Workflows of the workspace, newest first.',
  input: z.strictObject({
    repository_path,
    repository: repo.optional().describe('Only workflows of the repository with this name.'),
    status,
    limit: z.int().min(1).max(200).default(50),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({
    items: z.array(
      workflowSummary.extend({
        by_status: progressOf.output.shape.by_status,
        changed_at: z.int().describe('Time of the last change to the workflow or to one of its tasks.'),
        questions: z.int().describe('Number of tasks that wait for a person to answer.'),
      }),
    ),
    total: z.int(),
  }),
});

export const workflowsShow = contract({
  ...MEMBER_READ,
  name: 'workflows.show',
  title: 'A workflow',
  description: 'A workflow with its progress, the tasks that can be claimed next, blocked tasks and claims.',
  input: z.strictObject({ workflow_id: workflowId }),
  output: z.strictObject({
    workflow: workflowView,
    progress: progressOf.output,
    next: nextTasks.output,
    claims: z.array(
      z.strictObject({
        task_id: z.string(),
        task_name: z.string(),
        status: z.string(),
        agent_id: z.string(),
        agent_name: z.string(),
        agent_page: z.string().nullable().describe('Id for agents.show; null if the agent belongs to a private developer.'),
        claimed_at: z.int().nullable(),
        lease_expires_at: z.int().nullable(),
        question_id: z.string().nullable(),
      }),
    ),
  }),
});

export const workflowsTasks = contract({
  ...MEMBER_READ,
  name: 'workflows.tasks',
  title: 'Tasks of a workflow',
  description: 'Tasks of a workflow in plan order.',
  input: z.strictObject({
    workflow_id: workflowId,
    status: z.array(z.enum(TASK_STATUSES)).min(1).max(TASK_STATUSES.length).optional().describe('Only tasks in one of these statuses.'),
    text: z.string().trim().min(1).max(200).optional().describe('Only tasks with this text in their name.'),
    limit: z.int().min(1).max(10_000).default(500),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({
    workflow_id: z.string(),
    items: z.array(listedTask.extend({ agent_name: z.string().nullable().describe('Name of the agent that has claimed the task.') })),
    total: z.int(),
  }),
});

export const workflowsAgents = contract({
  ...MEMBER_READ,
  name: 'workflows.agents',
  title: 'Agents',
  description: 'Agents of the workspace, newest first.',
  input: z.strictObject({ limit: z.int().min(1).max(500).default(100), offset: z.int().min(0).default(0) }),
  output: z.strictObject({ items: z.array(agentView), total: z.int() }),
});
