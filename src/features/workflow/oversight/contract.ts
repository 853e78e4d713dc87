import { z } from 'zod';
import { contract, id, MEMBER_READ, repo } from '../../../kernel/contract.ts';
import { agentView } from '../agents/contract.ts';
import { listedTask, listWorkflows, nextTasks, progressOf, TASK_STATUSES, workflowSummary, workflowView } from '../workflows/contract.ts';

/** What people see of the work of agents: the same as agents do, by role instead of by grant. */

const workflowId = id.describe('The workflow, or the end of its id.');
const { repository_path, status } = listWorkflows.input.shape;

export const workflowsList = contract({
  ...MEMBER_READ,
  name: 'workflows.list',
  title: 'Workflows',
  description: 'The workflows of the workspace, newest first.',
  input: z.strictObject({
    repository_path,
    repository: repo.optional().describe('Only those of the repository that people call so.'),
    status,
    limit: z.int().min(1).max(200).default(50),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({
    items: z.array(
      workflowSummary.extend({
        by_status: progressOf.output.shape.by_status,
        changed_at: z.int().describe('When it or a task of it last changed.'),
        questions: z.int().describe('How many tasks wait for a person to answer.'),
      }),
    ),
    total: z.int(),
  }),
});

export const workflowsShow = contract({
  ...MEMBER_READ,
  name: 'workflows.show',
  title: 'A workflow',
  description: 'A workflow with how far it is, what can be taken up next, what is blocked, and who has claimed what.',
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
        agent_page: z.string().nullable().describe('Its id among the agents at work (agents.show); null where it is private.'),
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
  description: 'The tasks of a workflow in the order of its plan.',
  input: z.strictObject({
    workflow_id: workflowId,
    status: z.array(z.enum(TASK_STATUSES)).min(1).max(TASK_STATUSES.length).optional().describe('Only those in one of these statuses.'),
    text: z.string().trim().min(1).max(200).optional().describe('Only those with these words in their name.'),
    limit: z.int().min(1).max(10_000).default(500),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({
    workflow_id: z.string(),
    items: z.array(listedTask.extend({ agent_name: z.string().nullable().describe('Who holds it.') })),
    total: z.int(),
  }),
});

export const workflowsAgents = contract({
  ...MEMBER_READ,
  name: 'workflows.agents',
  title: 'Agents',
  description: 'The agents of the workspace, the newest first.',
  input: z.strictObject({ limit: z.int().min(1).max(500).default(100), offset: z.int().min(0).default(0) }),
  output: z.strictObject({ items: z.array(agentView), total: z.int() }),
});
