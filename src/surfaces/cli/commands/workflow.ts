import { resolve } from 'node:path';
import type { answerQuestion, listQuestions } from '../../../features/workflow/messages/contract.ts';
import type { workflowsAgents, workflowsList, workflowsShow, workflowsTasks } from '../../../features/workflow/oversight/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type Command, option } from '../command.ts';
import { age, table } from '../output.ts';
import { workflowSteering } from './workflow-steer.ts';
import { claimLines, questionLines, workflowLines } from './workflow-text.ts';

/** What the server answers, by its own contract. */
interface Answers {
  'workflows.list': Output<typeof workflowsList>;
  'workflows.show': Output<typeof workflowsShow>;
  'workflows.tasks': Output<typeof workflowsTasks>;
  'workflows.agents': Output<typeof workflowsAgents>;
  'questions.list': Output<typeof listQuestions>;
  'questions.answer': Output<typeof answerQuestion>;
}

const ask = asking<Answers>();

const newest = (items: readonly unknown[], total: number): string => (total > items.length ? `\n(the newest ${items.length} of ${total})` : '');

/** The work of agents, for people at a terminal. */
export const workflowCommands: readonly Command[] = [
  {
    name: 'workflow list',
    summary: 'The workflows of the workspace, newest first.',
    options: { status: { type: 'string' }, repository: { type: 'string' } },
    async run(invocation) {
      const status = option(invocation, 'status');
      const repository = option(invocation, 'repository');
      const { items, total } = await ask(invocation, 'workflows.list', {
        ...(status === undefined ? {} : { status: status.split(',') }),
        ...(repository === undefined ? {} : { repository_path: resolve(invocation.cwd, repository) }),
      });
      const now = Date.now();
      const rows = items.map((flow) => [flow.id, flow.status, flow.repository_path, age(flow.updated_at, now), flow.name]);
      const text = items.length === 0 ? 'There is no such workflow.' : table(['WORKFLOW', 'STATUS', 'REPOSITORY', 'UPDATED', 'NAME'], rows);
      return { json: { kind: 'workflow_list', items, total }, text: `${text}${newest(items, total)}` };
    },
  },
  {
    name: 'workflow show',
    summary: 'How far a workflow is, what is next, what is blocked, and who works on what.',
    positionals: ['ID'],
    async run(invocation) {
      const shown = await ask(invocation, 'workflows.show', { workflow_id: invocation.positionals[0] });
      const text = [workflowLines(shown), claimLines(shown.claims, Date.now())].filter(Boolean).join('\n');
      return { json: { kind: 'workflow', ...shown }, text };
    },
  },
  {
    name: 'workflow tasks',
    summary: 'The tasks of a workflow, in the order of its plan.',
    positionals: ['ID'],
    async run(invocation) {
      const { items, total, workflow_id } = await ask(invocation, 'workflows.tasks', { workflow_id: invocation.positionals[0], limit: 10_000 });
      const rows = items.map((task) => [String(task.sequence), task.id, task.status, task.assigned_agent_id ?? '—', task.name]);
      const text = items.length === 0 ? 'It has no tasks yet.' : table(['SEQ', 'TASK', 'STATUS', 'AGENT', 'NAME'], rows);
      return { json: { kind: 'workflow_task_list', workflow_id, items, total }, text };
    },
  },
  {
    name: 'workflow questions',
    summary: 'What agents ask people; with --answered what was answered last.',
    options: { answered: { type: 'boolean' } },
    async run(invocation) {
      const answered = invocation.values.answered === true;
      const { items, cut } = await ask(invocation, 'questions.list', { answered });
      const none = answered ? 'Nothing has been answered yet.' : 'No agent waits for an answer.';
      return {
        json: { kind: 'question_list', items, cut },
        text: `${questionLines(items, Date.now()) || none}${cut ? `\n\n(there are more than these ${items.length})` : ''}`,
      };
    },
  },
  {
    name: 'workflow answer',
    summary: 'Answer a question of an agent; the task that waits for it goes on. Write -- before a TEXT that starts with a dash.',
    positionals: ['QUESTION', 'TEXT'],
    async run(invocation) {
      const [question_id, answer] = invocation.positionals;
      const answered = await ask(invocation, 'questions.answer', { question_id, answer });
      const task = answered.task_status === null ? 'No task waited for it.' : `Task ${answered.task_id} is ${answered.task_status}.`;
      return { json: { kind: 'question_answered', ...answered }, text: `Answered ${answered.question_id}. ${task}` };
    },
  },
  {
    name: 'workflow agents',
    summary: 'The agents of the workspace, and whether they are heard of.',
    async run(invocation) {
      const { items, total } = await ask(invocation, 'workflows.agents');
      const now = Date.now();
      const rows = items.map((a) => [a.id, a.status, a.role, a.runtime, a.developer ?? 'operator', age(a.last_seen_at, now), a.current_task_id ?? '—', a.name]);
      const text = items.length === 0 ? 'No agent has registered.' : table(['AGENT', 'STATUS', 'ROLE', 'RUNTIME', 'OF', 'SEEN', 'TASK', 'NAME'], rows);
      return { json: { kind: 'agent_list', items, total }, text: `${text}${newest(items, total)}` };
    },
  },
  ...workflowSteering,
];
