import { resolve } from 'node:path';
import type { abandonWorkflow, createByHand, releaseClaim, retryTask, setParallelismByHand } from '../../../features/workflow/steering/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, type CommandResult, given, type Invocation, option, UsageError } from '../command.ts';
import { confirm } from '../confirm.ts';

type Steered = Output<typeof abandonWorkflow>;
type Moved = Output<typeof retryTask>;

interface Answers {
  'workflows.create': Output<typeof createByHand>;
  'workflows.pause': Steered;
  'workflows.resume': Steered;
  'workflows.complete': Steered;
  'workflows.abandon': Steered;
  'workflows.set_parallelism': Output<typeof setParallelismByHand>;
  'workflows.retry': Moved;
  'workflows.skip': Moved;
  'workflows.release': Output<typeof releaseClaim>;
}

const ask = asking<Answers>();
const REASON = { reason: { type: 'string' } } as const;

/** What an operator may do with the work of agents. */
export const workflowSteering: readonly CliCommand[] = [
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
  {
    name: 'workflow parallel',
    summary: 'How many tasks of a workflow may be claimed at once.',
    positionals: ['ID', 'NUMBER'],
    async run(invocation) {
      const [workflow_id, number] = invocation.positionals;
      const set = await ask(invocation, 'workflows.set_parallelism', { workflow_id, max_parallel_tasks: numberOf(number, 'NUMBER') });
      const text = `${invocation.out.mark.good} At most ${set.max_parallel_tasks} at once; it was ${set.from}.`;
      return { json: { kind: 'workflow_parallelism', ...set }, text };
    },
  },
  moving('retry', 'Let a failed task be taken up again.', {}),
  moving('skip', 'Give a failed task up; whoever waits for it waits no longer.', REASON),
  moving('release', 'Take a task from the agent that holds it, so that another can take it up.', REASON),
];

function numberOf(text: string | undefined, what: string): number {
  if (text !== undefined && /^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`${what} is not a number from 1 to 1000`);
}

async function create(invocation: Invocation): Promise<CommandResult> {
  const { name, prompt } = invocation.values;
  if (name === undefined) throw new UsageError('--name is missing');
  if (prompt === undefined) throw new UsageError('--prompt is missing');
  const parallel = option(invocation, 'parallel');
  const made = await ask(invocation, 'workflows.create', {
    ...given(invocation, 'name', 'prompt'),
    repository_path: resolve(invocation.cwd, option(invocation, 'repository') ?? '.'),
    ...(parallel === undefined ? {} : { max_parallel_tasks: numberOf(parallel, '--parallel') }),
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
  const answer = await ask(invocation, `workflows.${verb}`, { workflow_id: invocation.positionals[0], ...given(invocation, 'reason') });
  const held = answer.claims > 0 ? ` Agents still work on ${answer.claims} of its tasks.` : '';
  const text = answer.changed ? `${did} ${answer.name} (${answer.workflow_id}).${held}` : `${answer.name} is ${answer.status} already.`;
  return { json: { kind: 'workflow_status', ...answer }, text: `${invocation.out.mark.good} ${text}` };
}

async function abandon(invocation: Invocation): Promise<CommandResult> {
  if (invocation.values.yes !== true && !invocation.json && process.stdin.isTTY && process.stderr.isTTY) {
    const question = `Abandon ${invocation.positionals[0] ?? ''}? There is no way back. [y/N] `;
    if (!(await confirm(question, process.stdin, process.stderr))) {
      return { json: { kind: 'workflow_status', changed: false }, text: 'Nothing was abandoned.', exit: 1 };
    }
  }
  return await set(invocation, 'abandon', 'Abandoned');
}

function moving(verb: 'retry' | 'skip' | 'release', summary: string, options: NonNullable<CliCommand['options']>): CliCommand {
  return {
    name: `workflow ${verb}`,
    summary,
    positionals: ['TASK'],
    options,
    async run(invocation) {
      const moved = await ask(invocation, `workflows.${verb}`, { task_id: invocation.positionals[0], ...given(invocation, 'reason') });
      const text = `Task ${moved.name} (${moved.task_id}) is ${moved.status}${moved.changed ? '' : ' already'}.`;
      return { json: { kind: 'workflow_task', ...moved }, text: `${invocation.out.mark.good} ${text}` };
    },
  };
}
