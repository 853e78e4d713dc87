import { resolve } from 'node:path';
import { type AnswerTo, call, calling, type ItemOf } from '../call.ts';
import { type CliCommand, type CommandResult, given, type Invocation, option, UsageError, upToThousand } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { age, indented, list, oneLine } from '../output.ts';

type Shown = AnswerTo<'workflows.show'>;
type Question = ItemOf<'questions.list'>;

const listed = (title: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`);

export function workflowLines({ workflow, progress, next }: Shown): string {
  const counts = Object.entries(progress.by_status).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []));
  return [
    `${workflow.name} (${workflow.id})`,
    `${workflow.status}${workflow.status_reason ? `: ${oneLine(workflow.status_reason)}` : ''}, in ${workflow.repository_path}`,
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
  const lines = [item.subject, item.question, `for ${work.length > 0 ? work.join(', ') : 'no task'}`, item.answer === null ? '' : `answer: ${item.answer}`];
  return indented(lines.filter(Boolean).join('\n'));
};

export function questionLines(items: readonly Question[], now: number): string {
  return items
    .map((item) => `${item.question_id}  ${item.priority}  ${item.agent_name ?? item.agent_id}  asked ${age(item.asked_at, now)}\n${questionText(item)}`)
    .join('\n\n');
}

const REASON = { reason: { type: 'string' } } as const;

/** The work of agents, for people at a terminal. */
export const workflowCommands: readonly CliCommand[] = [
  calling({
    name: 'workflow list',
    summary: 'The workflows of the workspace, newest first.',
    options: { status: { type: 'string' }, repository: { type: 'string' } },
    action: 'workflows.list',
    input(invocation) {
      const [status, repository] = [option(invocation, 'status'), option(invocation, 'repository')];
      return {
        ...(status === undefined ? {} : { status: status.split(',') }),
        ...(repository === undefined ? {} : { repository_path: resolve(invocation.cwd, repository) }),
      };
    },
    kind: 'workflow_list',
    text({ items, total }) {
      const rows = items.map((flow) => [flow.id, flow.status, flow.repository_path, age(flow.updated_at), flow.name]);
      return list(['WORKFLOW', 'STATUS', 'REPOSITORY', 'UPDATED', 'NAME'], rows, 'There is no such workflow.', total);
    },
  }),
  calling({
    name: 'workflow show',
    summary: 'How far a workflow is, what is next, what is blocked, and who works on what.',
    positionals: { ID: 'workflow_id' },
    action: 'workflows.show',
    kind: 'workflow',
    text: (shown) => [workflowLines(shown), claimLines(shown.claims, Date.now())].filter(Boolean).join('\n'),
  }),
  calling({
    name: 'workflow tasks',
    summary: 'The tasks of a workflow, in the order of its plan.',
    positionals: { ID: 'workflow_id' },
    action: 'workflows.tasks',
    input: () => ({ limit: 10_000 }),
    kind: 'workflow_task_list',
    text({ items }) {
      const rows = items.map((task) => [String(task.sequence), task.id, task.status, task.assigned_agent_id ?? '—', task.name]);
      return list(['SEQ', 'TASK', 'STATUS', 'AGENT', 'NAME'], rows, 'It has no tasks yet.');
    },
  }),
  calling({
    name: 'workflow questions',
    summary: 'What agents ask people; with --answered what was answered last.',
    options: { answered: { type: 'boolean' } },
    action: 'questions.list',
    input: ({ values }) => ({ answered: values.answered === true }),
    kind: 'question_list',
    text({ items, cut }, { values }) {
      const none = values.answered === true ? 'Nothing has been answered yet.' : 'No agent waits for an answer.';
      return `${questionLines(items, Date.now()) || none}${cut ? `\n\n(there are more than these ${items.length})` : ''}`;
    },
  }),
  calling({
    name: 'workflow answer',
    summary: 'Answer a question of an agent; the task that waits for it goes on. Write -- before a TEXT that starts with a dash.',
    positionals: { QUESTION: 'question_id', TEXT: 'answer' },
    action: 'questions.answer',
    kind: 'question_answered',
    text: ({ question_id, task_id, task_status }) =>
      `Answered ${question_id}. ${task_status === null ? 'No task waited for it.' : `Task ${task_id} is ${task_status}.`}`,
  }),
  calling({
    name: 'workflow agents',
    summary: 'The agents of the workspace, and whether they are heard of.',
    action: 'workflows.agents',
    kind: 'agent_list',
    text({ items, total }) {
      const rows = items.map((a) => [a.id, a.status, a.role, a.runtime, a.developer ?? 'operator', age(a.last_seen_at), a.current_task_id ?? '—', a.name]);
      return list(['AGENT', 'STATUS', 'ROLE', 'RUNTIME', 'OF', 'SEEN', 'TASK', 'NAME'], rows, 'No agent has registered.', total);
    },
  }),
  {
    name: 'workflow create',
    summary: 'A workflow from --prompt TEXT, called --name, of the repository here or in --repository; an agent plans it.',
    options: { name: { type: 'string' }, prompt: { type: 'string' }, repository: { type: 'string' }, parallel: { type: 'string' } },
    run: create,
  },
  setting('pause', 'No further task of a workflow is taken up; whoever has one goes on.', 'Paused'),
  setting('resume', 'The tasks of a workflow can be taken up: of one that is ready, paused or failed.', 'Resumed'),
  setting('complete', 'End a workflow as done; every claim in it ends.', 'Completed'),
  {
    name: 'workflow abandon',
    summary: 'Give a workflow up for good; every claim in it ends. Asks first at a terminal, unless --yes is given.',
    positionals: ['ID'],
    options: { ...REASON, yes: { type: 'boolean' } },
    run: abandon,
  },
  calling({
    name: 'workflow parallel',
    summary: 'How many tasks of a workflow may be claimed at once.',
    positionals: { ID: 'workflow_id', NUMBER: 'max_parallel_tasks' },
    action: 'workflows.set_parallelism',
    input: ({ positionals }) => ({ max_parallel_tasks: upToThousand(positionals[1], 'NUMBER') }),
    kind: 'workflow_parallelism',
    text: ({ max_parallel_tasks, from }, { out }) => `${out.mark.good} At most ${max_parallel_tasks} at once; it was ${from}.`,
  }),
  moving('retry', 'Let a failed task be taken up again.', {}),
  moving('skip', 'Give a failed task up; whoever waits for it waits no longer.', REASON),
  moving('release', 'Take a task from the agent that holds it, so that another can take it up.', REASON),
];

async function create(invocation: Invocation): Promise<CommandResult> {
  const { name, prompt } = invocation.values;
  if (name === undefined) throw new UsageError('--name is missing');
  if (prompt === undefined) throw new UsageError('--prompt is missing');
  const parallel = option(invocation, 'parallel');
  const made = await call(invocation, 'workflows.create', {
    ...given(invocation, 'name', 'prompt'),
    repository_path: resolve(invocation.cwd, option(invocation, 'repository') ?? '.'),
    ...(parallel === undefined ? {} : { max_parallel_tasks: upToThousand(parallel, '--parallel') }),
  });
  const text = `${invocation.out.mark.good} ${made.id} ${made.name}, in ${made.repository_path}\n    next: let an agent plan it with workflow_set_plan`;
  return { json: { kind: 'workflow_created', ...made }, text };
}

function setting(verb: 'pause' | 'resume' | 'complete', summary: string, did: string): CliCommand {
  return {
    name: `workflow ${verb}`,
    summary,
    positionals: ['ID'],
    options: REASON,
    run: (invocation) => set(invocation, verb, did),
  };
}

async function set(invocation: Invocation, verb: 'pause' | 'resume' | 'complete' | 'abandon', did: string): Promise<CommandResult> {
  const answer = await call(invocation, `workflows.${verb}`, { workflow_id: invocation.positionals[0], ...given(invocation, 'reason') });
  const held = answer.claims > 0 ? ` Agents still work on ${answer.claims} of its tasks.` : '';
  const text = answer.changed ? `${did} ${answer.name} (${answer.workflow_id}).${held}` : `${answer.name} is ${answer.status} already.`;
  return { json: { kind: 'workflow_status', ...answer }, text: `${invocation.out.mark.good} ${text}` };
}

async function abandon(invocation: Invocation): Promise<CommandResult> {
  if (canConfirm(invocation) && !(await confirm(`Abandon ${invocation.positionals[0] ?? ''}? There is no way back.`)))
    return { json: { kind: 'workflow_status', changed: false }, text: 'Nothing was abandoned.', exit: 1 };
  return await set(invocation, 'abandon', 'Abandoned');
}

function moving(verb: 'retry' | 'skip' | 'release', summary: string, options: NonNullable<CliCommand['options']>): CliCommand {
  return calling({
    name: `workflow ${verb}`,
    summary,
    positionals: { TASK: 'task_id' },
    options,
    action: `workflows.${verb}`,
    kind: 'workflow_task',
    text: ({ name, task_id, status, changed }, { out }) => `${out.mark.good} Task ${name} (${task_id}) is ${status}${changed ? '' : ' already'}.`,
  });
}
