import { resolve } from 'node:path';
import type { answerQuestion, listQuestions } from '../../../features/workflow/messages/contract.ts';
import type { workflowsAgents, workflowsList, workflowsShow, workflowsTasks } from '../../../features/workflow/oversight/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, option } from '../command.ts';
import { age, table } from '../output.ts';
import { workflowSteering } from './workflow-steer.ts';

type Shown = Output<typeof workflowsShow>;
type Question = Output<typeof listQuestions>['items'][number];

const listed = (title: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);

export function workflowLines({ workflow, progress, next }: Shown): string {
  const counts = Object.entries(progress.by_status).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []));
  return [
    `${workflow.name} (${workflow.id})`,
    `${workflow.status}${workflow.status_reason ? `: ${workflow.status_reason.replaceAll(/\s+/g, ' ')}` : ''}, in ${workflow.repository_path}`,
    progress.total_tasks === 0
      ? 'It has no plan yet.'
      : `${progress.total_tasks} tasks: ${counts.join(', ')}; at step ${progress.current_sequence}, at most ${workflow.max_parallel_tasks} at once`,
    listed(
      'Next',
      next.tasks.map(({ id, name, status }) => `${id}  ${name}${status === 'failed' ? ' (failed)' : ''}`),
    ),
    listed(
      'Blocked',
      progress.blocked_tasks.map(({ id, name, blocked_by }) => `${id}  ${name}: waits for ${blocked_by.join(', ')}`),
    ),
  ]
    .filter(Boolean)
    .join('\n');
}

export const claimLines = (claims: Shown['claims'], now: number): string =>
  listed(
    'Claimed',
    claims.map(
      ({ task_id, task_name, status, agent_id, agent_name, claimed_at, question_id }) =>
        `${task_id}  ${task_name}: ${status}, by ${agent_name} (${agent_id}), claimed ${age(claimed_at, now)}${question_id ? `, waits for the answer to ${question_id}` : ''}`,
    ),
  );

/** A question in full: whoever answers it must have read it. */
const questionText = (item: Question): string => {
  const work = [item.task_name && `task ${item.task_name}`, item.workflow_name && `workflow ${item.workflow_name}`].filter(Boolean);
  return [item.subject, item.question, `for ${work.length > 0 ? work.join(', ') : 'no task'}`, item.answer === null ? '' : `answer: ${item.answer}`]
    .filter(Boolean)
    .join('\n')
    .replaceAll(/^/gm, '  ');
};

export function questionLines(items: readonly Question[], now: number): string {
  return items
    .map((item) => `${item.question_id}  ${item.priority}  ${item.agent_name ?? item.agent_id}  asked ${age(item.asked_at, now)}\n${questionText(item)}`)
    .join('\n\n');
}

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
export const workflowCommands: readonly CliCommand[] = [
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
