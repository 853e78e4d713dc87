import { resolve } from 'node:path';
import { type AnswerTo, call, calling } from '../call.ts';
import { type CliCommand, type CommandOptions, type CommandResult, given, type Invocation, option, upToThousand } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { age, counted, list, oneLine, type TableShape } from '../output.ts';
import { questionLines } from './questions-text.ts';

type Shown = AnswerTo<'workflows.show'>;

const listed = (title: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);

export function workflowLines({ workflow, progress, next }: Shown): string {
  const counts = Object.entries(progress.by_status).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []));
  return [
    `${workflow.name} (${workflow.id})`,
    `${workflow.status}${workflow.status_reason ? `: ${oneLine(workflow.status_reason)}` : ''}, in ${workflow.repository_path}`,
    progress.total_tasks === 0
      ? 'No plan yet.'
      : `${counted(progress.total_tasks, 'task')}: ${counts.join(', ')}; at step ${progress.current_sequence}, at most ${workflow.max_parallel_tasks} at a time`,
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
        `${task_id}  ${task_name}: ${status}, by ${agent_name} (${agent_id}), claimed ${age(claimed_at, now)} ago${question_id ? `, waits for the answer to ${question_id}` : ''}`,
    ),
  );

const REASON = { reason: { value: 'TEXT', description: 'The reason. Agents get this text, and the journal records it.' } } as const satisfies CommandOptions;
const ID = { name: 'ID', description: 'The workflow id, or the last characters of the id.', field: 'workflow_id' } as const;
/** The default number of tasks that agents may claim at a time. A test checks that the server has the same default. */
export const PARALLEL = 1;
export const WORKFLOW_STATUSES = ['planning', 'ready', 'in_progress', 'paused', 'completed', 'failed', 'abandoned'];

const WORKFLOWS: TableShape = {
  head: ['WORKFLOW', 'STATUS', 'REPOSITORY', 'UPDATED', 'NAME'],
  narrow: [
    ['REPOSITORY', 16],
    ['NAME', 20],
    ['REPOSITORY', 0],
    ['NAME', 8],
  ],
};
const TASKS: TableShape = {
  head: ['SEQ', 'TASK', 'STATUS', 'AGENT', 'NAME'],
  narrow: [
    ['NAME', 20],
    ['AGENT', 12],
    ['AGENT', 0],
    ['NAME', 8],
  ],
};
const AGENTS: TableShape = {
  head: ['AGENT', 'STATUS', 'ROLE', 'RUNTIME', 'OF', 'SEEN', 'TASK', 'NAME'],
  narrow: [
    ['NAME', 0],
    ['TASK', 12],
    ['RUNTIME', 0],
    ['ROLE', 0],
    ['AGENT', 24],
    ['TASK', 0],
    ['OF', 0],
  ],
};

export const workflowCommands: readonly CliCommand[] = [
  calling({
    name: 'workflow list',
    summary: 'List workflows, newest first.',
    options: {
      status: { value: 'LIST', description: `Only these statuses, separated by commas: ${WORKFLOW_STATUSES.join(', ')}.` },
      repo: { value: 'PATH', description: 'Only workflows of this repository.', formerly: 'repository' },
    },
    examples: ['workflow list', 'workflow list --status in_progress,paused --repo .'],
    action: 'workflows.list',
    input(invocation) {
      const [status, repository] = [option(invocation, 'status'), option(invocation, 'repo')];
      return {
        ...(status === undefined ? {} : { status: status.split(',') }),
        ...(repository === undefined ? {} : { repository_path: resolve(invocation.cwd, repository) }),
      };
    },
    kind: 'workflow_list',
    text({ items, total }, { out }) {
      const rows = items.map((flow) => [flow.id, flow.status, flow.repository_path, age(flow.updated_at), flow.name]);
      return list(WORKFLOWS, rows, { none: 'No workflow matches.', total, columns: out.columns });
    },
  }),
  calling({
    name: 'workflow show',
    summary: 'Show the progress, next tasks, blocked tasks and claims of a workflow.',
    arguments: [ID],
    examples: ['workflow show 4KQ2ZP'],
    action: 'workflows.show',
    kind: 'workflow',
    text: (shown) => [workflowLines(shown), claimLines(shown.claims, Date.now())].filter(Boolean).join('\n'),
  }),
  calling({
    name: 'workflow tasks',
    summary: 'List the tasks of a workflow in the order of its plan.',
    arguments: [ID],
    examples: ['workflow tasks 4KQ2ZP'],
    action: 'workflows.tasks',
    input: () => ({ limit: 10_000 }),
    kind: 'workflow_task_list',
    text({ items }, { out }) {
      const rows = items.map((task) => [String(task.sequence), task.id, task.status, task.assigned_agent_id ?? '—', task.name]);
      return list(TASKS, rows, { none: 'No tasks yet.', columns: out.columns });
    },
  }),
  calling({
    name: 'workflow questions',
    summary: 'List the open questions of agents.',
    hidden: true,
    options: { answered: { description: 'List the most recently answered questions.' } },
    examples: ['messages list --kind question'],
    action: 'questions.list',
    input: ({ values }) => ({ answered: values.answered === true }),
    kind: 'question_list',
    text({ items, cut }, { values }) {
      const none = values.answered === true ? 'No question has been answered yet.' : 'No agent waits for an answer.';
      return `${questionLines(items, Date.now()) || none}${cut ? `\n\n(only the first ${items.length} are listed)` : ''}`;
    },
  }),
  calling({
    name: 'workflow answer',
    summary: 'Answer a question of an agent.',
    hidden: true,
    arguments: [
      { name: 'QUESTION', description: 'The question id, or the last characters of the id.', field: 'question_id' },
      { name: 'TEXT', description: 'The answer. Write -- before a text that begins with a dash.', field: 'answer' },
    ],
    examples: ['messages answer 4KQ2ZP "Port 8080"'],
    action: 'questions.answer',
    kind: 'question_answered',
    text: ({ question_id, task_id, task_status }) =>
      `Answered ${question_id}. ${task_status === null ? 'No task waited for it.' : `Task ${task_id} is ${task_status}.`}`,
  }),
  calling({
    name: 'workflow agents',
    summary: 'List agents and when each was last seen.',
    examples: ['workflow agents'],
    action: 'workflows.agents',
    kind: 'agent_list',
    text({ items, total }, { out }) {
      const rows = items.map((a) => [a.id, a.status, a.role, a.runtime, a.developer ?? 'operator', age(a.last_seen_at), a.current_task_id ?? '—', a.name]);
      return list(AGENTS, rows, { none: 'No agent has registered yet.', total, columns: out.columns });
    },
  }),
  {
    name: 'workflow create',
    summary: 'Create a workflow. An agent then plans its tasks.',
    options: {
      name: { value: 'NAME', description: 'The name of the workflow.', required: true },
      prompt: { value: 'TEXT', description: 'The goal.', required: true },
      repo: { value: 'PATH', description: 'The repository.', default: 'the current folder', formerly: 'repository' },
      parallel: { value: 'N', description: 'The number of tasks that agents may claim at a time, from 1 to 1000.', default: PARALLEL },
    },
    examples: [
      'workflow create --name login --prompt "Add a login page"',
      'workflow create --name login --prompt "Add a login page" --repo ~/src/shop --parallel 3',
    ],
    run: create,
  },
  setting('pause', 'Stop handing out new tasks. Tasks in progress continue.', 'Paused'),
  setting('resume', 'Hand out the tasks of a ready, paused or failed workflow.', 'Resumed'),
  setting('complete', 'Mark a workflow as completed. All claims on its tasks end.', 'Completed'),
  {
    name: 'workflow abandon',
    summary: 'Abandon a workflow permanently. All claims on its tasks end.',
    description: 'At a terminal, the command asks for confirmation first.',
    arguments: [ID],
    options: { ...REASON, yes: { description: 'Abandon without asking.' } },
    examples: ['workflow abandon 4KQ2ZP --reason "The feature was dropped"'],
    run: abandon,
  },
  calling({
    name: 'workflow parallel',
    summary: 'Set the number of tasks that agents may claim at a time.',
    arguments: [ID, { name: 'NUMBER', description: 'From 1 to 1000.', field: 'max_parallel_tasks' }],
    examples: ['workflow parallel 4KQ2ZP 3'],
    action: 'workflows.set_parallelism',
    input: ({ positionals }) => ({ max_parallel_tasks: upToThousand(positionals[1], 'NUMBER') }),
    kind: 'workflow_parallelism',
    text: ({ max_parallel_tasks, from }, { out }) => `${out.mark.good} At most ${counted(max_parallel_tasks, 'task')} at a time (was ${from}).`,
  }),
  moving('retry', 'Let agents claim a failed task again.', {}),
  moving('skip', 'Skip a failed task. Tasks that depend on it can start.', REASON),
  moving('release', 'Take a task from its agent, so that another agent can claim it.', REASON),
];

async function create(invocation: Invocation): Promise<CommandResult> {
  const parallel = option(invocation, 'parallel');
  const made = await call(invocation, 'workflows.create', {
    ...given(invocation, 'name', 'prompt'),
    repository_path: resolve(invocation.cwd, option(invocation, 'repo') ?? '.'),
    ...(parallel === undefined ? {} : { max_parallel_tasks: upToThousand(parallel, '--parallel') }),
  });
  const text = `${invocation.out.mark.good} ${made.id} ${made.name}, in ${made.repository_path}\n    next: ask an agent to plan ${made.id} with workflow_set_plan`;
  return { json: { kind: 'workflow_created', ...made }, text };
}

function setting(verb: 'pause' | 'resume' | 'complete', summary: string, did: string): CliCommand {
  return {
    name: `workflow ${verb}`,
    summary,
    arguments: [ID],
    options: REASON,
    examples: [`workflow ${verb} 4KQ2ZP`],
    run: (invocation) => set(invocation, verb, did),
  };
}

async function set(invocation: Invocation, verb: 'pause' | 'resume' | 'complete' | 'abandon', did: string): Promise<CommandResult> {
  const answer = await call(invocation, `workflows.${verb}`, { workflow_id: invocation.positionals[0], ...given(invocation, 'reason') });
  const held = answer.claims > 0 ? ` Agents are still working on ${counted(answer.claims, 'task')}.` : '';
  const text = answer.changed ? `${did} ${answer.name} (${answer.workflow_id}).${held}` : `${answer.name} is ${answer.status} already.`;
  return { json: { kind: 'workflow_status', ...answer }, text: `${invocation.out.mark.good} ${text}` };
}

async function abandon(invocation: Invocation): Promise<CommandResult> {
  if (canConfirm(invocation) && !(await confirm(`Abandon ${invocation.positionals[0] ?? ''}? This cannot be undone.`)))
    return { json: { kind: 'workflow_status', changed: false }, text: 'Nothing was abandoned.', exit: 1 };
  return await set(invocation, 'abandon', 'Abandoned');
}

function moving(verb: 'retry' | 'skip' | 'release', summary: string, options: NonNullable<CliCommand['options']>): CliCommand {
  return calling({
    name: `workflow ${verb}`,
    summary,
    arguments: [{ name: 'TASK', description: 'The task id, or the last characters of the id.', field: 'task_id' }],
    options,
    examples: [`workflow ${verb} 4KQ2ZP`],
    action: `workflows.${verb}`,
    kind: 'workflow_task',
    text: ({ name, task_id, status, changed }, { out }) => `${out.mark.good} Task ${name} (${task_id}) is ${status}${changed ? '' : ' already'}.`,
  });
}
