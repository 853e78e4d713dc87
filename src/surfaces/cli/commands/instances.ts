import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { workspaceFlag, workspaceId } from '../../../kernel/ids.ts';
import { call, calling } from '../call.ts';
import { findServer } from '../client.ts';
import { type CliCommand, CliError, type CommandOptions, type CommandResult, given, type Invocation, option, UsageError } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { withoutPaint } from '../output.ts';
import { fileLines, filesLines } from './instances-diff-text.ts';
import { endedLines, listLines, newLines, showLines } from './instances-text.ts';

const idOf = ({ positionals }: Invocation): string => positionals[0] as string;
const LOOK_MS = 1_000;

const ID = { name: 'ID', description: 'The instance id, or the last characters of the id.' } as const;
/** The same values as in the contract. They are repeated here, because importing the contract would load the schema library. A test compares them. */
export const INSTANCE_STATUSES = ['started', 'waiting_review', 'pr_created', 'pr_merged', 'pr_closed', 'terminated', 'abandoned'] as const;
export const LOG_LINES = 200;
const REASON = { reason: { value: 'TEXT', description: 'The reason. It is shown next to the status of the instance.' } } as const satisfies CommandOptions;

/** Commands for the agents that the server starts, each in its own worktree and session. */
export const instanceCommands: readonly CliCommand[] = [
  {
    name: 'instances start',
    summary: 'Start an agent on an issue or a prompt.',
    description: 'Give `--issue`, `--prompt` or both. The agent works on its own branch.',
    options: {
      type: { value: 'TYPE', choices: ['coding', 'planning'], description: 'The kind of work that the agent does.', required: true },
      issue: { value: 'N', description: 'The number of a GitHub issue.' },
      prompt: { value: 'TEXT', description: 'The text that tells the agent what to do.' },
      repo: { value: 'PATH', description: 'The repository.', default: 'the current folder' },
      agent: { value: 'NAME', description: 'The launcher: claude, codex, gemini, opencode, or a launcher in config.toml.', default: 'the launcher claude' },
      base: { value: 'BRANCH', description: 'The branch to start from.', default: 'the branch that is checked out' },
    },
    examples: ['instances start --type coding --issue 123', 'instances start --type planning --prompt "Plan the move to PostgreSQL"'],
    run: start,
  },
  calling({
    name: 'instances list',
    summary: 'List instances, newest first.',
    options: {
      status: { value: 'LIST', description: `Only these statuses, separated by commas: ${INSTANCE_STATUSES.join(', ')}.` },
      type: { value: 'TYPE', choices: ['coding', 'planning', 'review'], description: 'Only this type.' },
      repo: { value: 'NAME', description: 'Only instances in the repository with this name.', formerly: 'repository' },
    },
    examples: ['instances list', 'instances list --status started,waiting_review'],
    action: 'instances.list',
    input(invocation) {
      const [status, repository] = [option(invocation, 'status'), option(invocation, 'repo')];
      return {
        ...given(invocation, 'type'),
        ...(repository === undefined ? {} : { repository }),
        ...(status === undefined ? {} : { status: status.split(',') }),
      };
    },
    kind: 'instance_list',
    text: (listed, { out }) => listLines(listed, Date.now(), out.columns),
  }),
  calling({
    name: 'instances show',
    summary: 'Show an instance with its reviews, their feedback and failures.',
    arguments: [{ ...ID, field: 'instance_id' }],
    examples: ['instances show 4KQ2ZP'],
    action: 'instances.show',
    kind: 'instance',
    text: (shown, { out }) => showLines(shown, out.mark, Date.now()),
  }),
  {
    name: 'instances attach',
    summary: 'Show the terminal of an instance. Press Ctrl-b, then d, to leave.',
    arguments: [ID],
    options: { write: { description: 'Let you type into the terminal.' } },
    examples: ['instances attach 4KQ2ZP', 'instances attach 4KQ2ZP --write'],
    run: attach,
  },
  {
    name: 'instances logs',
    summary: "Print the last lines of an instance's terminal.",
    arguments: [ID],
    options: {
      lines: { value: 'N', description: 'The number of lines, from 1 to 10000.', default: LOG_LINES },
      follow: { description: 'Also print new lines until the instance ends.' },
    },
    examples: ['instances logs 4KQ2ZP --follow'],
    async run(invocation) {
      const lines = option(invocation, 'lines');
      if (lines !== undefined && !/^[1-9]\d{0,3}$|^10000$/.test(lines))
        throw new UsageError('`--lines` must be a whole number from 1 to 10000, for example --lines 500');
      if (invocation.values.follow) return await follow(invocation, lines === undefined ? LOG_LINES : Number(lines));
      const log = await logOf(invocation, lines === undefined ? LOG_LINES : Number(lines));
      return { json: { kind: 'instance_log', ...log }, text: withoutPaint(log.text) || `${log.instance_id} has printed nothing.` };
    },
  },
  {
    name: 'instances diff',
    summary: 'List the files that an instance changed, committed or not.',
    arguments: [ID],
    options: { path: { value: 'PATH', description: 'Show the changed lines of this file instead.' } },
    examples: ['instances diff 4KQ2ZP', 'instances diff 4KQ2ZP --path src/app.ts'],
    run: diff,
  },
  calling({
    name: 'instances message',
    summary: 'Send a message to the agent of an instance.',
    description: 'The server stores the message in the inbox of the agent, and types it into the terminal of the agent.',
    arguments: [{ ...ID, field: 'instance_id' }],
    options: { text: { value: 'TEXT', description: 'The message.', required: true } },
    examples: ['instances message 4KQ2ZP --text "Use the new API"'],
    action: 'instances.message',
    input(invocation) {
      return { message: option(invocation, 'text') };
    },
    kind: 'instance_message',
    text({ message_id, instance_id, reaches }) {
      const how =
        reaches === 'terminal'
          ? 'The server types it into the terminal of the agent within seconds.'
          : 'The agent gets the message when its program starts again.';
      return `Sent ${message_id} to ${instance_id}. ${how}`;
    },
  }),
  {
    name: 'instances allow',
    summary: 'Allow an instance one more review than its limit.',
    arguments: [ID],
    options: { withdraw: { description: 'Withdraw an extra review that has not started.' } },
    examples: ['instances allow 4KQ2ZP'],
    async run(invocation) {
      const withdraw = invocation.values.withdraw === true;
      const instance = await call(invocation, 'instances.allow_review', { instance_id: idOf(invocation), withdraw });
      const text = `${instance.id} may have ${instance.max_reviews} reviews. It has had ${instance.reviews}.`;
      return { json: { kind: 'instance_review_limit', instance }, text };
    },
  },
  ending('stop', 'Stop an agent. Its worktree is removed if no work would be lost.', 'instance_stopped', 'Stopped'),
  ending('abandon', 'Abandon the work of an instance. Its agent and its review stop.', 'instance_abandoned', 'Abandoned'),
  {
    name: 'instances clean',
    summary: 'Remove the worktree of an instance that has ended.',
    arguments: [ID],
    options: {
      force: { description: 'Also remove uncommitted work. A git ref keeps a backup of it, but not of ignored files.' },
      yes: { description: 'Remove without asking.' },
    },
    examples: ['instances clean 4KQ2ZP', 'instances clean 4KQ2ZP --force'],
    run: clean,
  },
];

async function start(invocation: Invocation): Promise<CommandResult> {
  const { issue, repo, base } = invocation.values;
  if (issue !== undefined && !/^[1-9]\d{0,8}$/.test(String(issue))) throw new UsageError('`--issue` must be the number of an issue, for example --issue 123');
  if (!(await findServer(invocation.env))) {
    throw new CliError('NOT_SERVING', 'No server of this home is running, and the agent needs one.', 'covenant up, in another terminal');
  }
  const instance = await call(invocation, 'instances.start', {
    repository_path: resolve(invocation.cwd, typeof repo === 'string' ? repo : '.'),
    ...given(invocation, 'type', 'prompt', 'agent'),
    ...(issue === undefined ? {} : { issue: Number(issue) }),
    ...(base === undefined ? {} : { base_branch: base }),
  });
  const { mark } = invocation.out;
  const where = instance.session_kind === 'tmux' ? 'in tmux' : 'as a plain process (tmux is not installed)';
  const look = `covenant instances ${instance.session_kind === 'tmux' ? 'attach' : 'logs'} ${instance.id}${inWorkspace(invocation)}`;
  const text = withoutPaint(`${instance.id} works on branch ${instance.branch}, ${where}.\n  ${instance.worktree_path}`);
  return { json: { kind: 'instance_started', instance }, text: `${mark.good} ${text}\n    next: ${look}` };
}

const inWorkspace = (invocation: Invocation): string => workspaceFlag(workspaceId(option(invocation, 'workspace') ?? 'default'));

/** Runs tmux in this terminal, connected to the tmux socket of the server. */
async function attach(invocation: Invocation): Promise<CommandResult | undefined> {
  const shown = await call(invocation, 'instances.show', { instance_id: idOf(invocation) });
  const { instance } = shown;
  const workspace = inWorkspace(invocation);
  const command = shown.attach?.filter((word) => word !== '-r' || invocation.values.write !== true) ?? null;
  if (invocation.json) return { json: { kind: 'instance_attach', instance_id: instance.id, command }, text: '' };
  if (!instance.running) throw new CliError('NOT_RUNNING', `${instance.id} is not running.`, `covenant instances logs ${instance.id}${workspace}`);
  if (command === null) {
    const why = instance.session_kind === 'process' ? 'has no terminal: it is a plain process' : 'has no terminal that can be shown from here';
    invocation.out.note(`${instance.id} ${why}. This is its log. Stop with Ctrl-C.`);
    return await follow(invocation, LOG_LINES);
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError('NO_TERMINAL', 'Standard input and output must be a terminal.', `covenant instances logs ${instance.id} --follow${workspace}`);
  }
  const [file = 'tmux', ...args] = command;
  // Removes the variable TMUX, because tmux refuses to start inside another tmux session.
  const { TMUX: _, ...env } = invocation.env;
  const child = spawn(file, args, { stdio: 'inherit', env });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? undefined : { json: { kind: 'instance_attach' }, text: '', exit: 1 };
}

const logOf = (invocation: Invocation, lines: number) => call(invocation, 'instances.logs', { instance_id: idOf(invocation), lines });

/** Prints new lines until the instance ends or the command is interrupted. */
async function follow(invocation: Invocation, lines: number): Promise<undefined> {
  let seen: readonly string[] = [];
  for (;;) {
    const { text, running, instance_id } = await logOf(invocation, lines);
    const now = withoutPaint(text).split('\n');
    const fresh = newLines(seen, now);
    seen = now;
    if (fresh.some((line) => line !== '')) {
      invocation.out.result(invocation.json ? JSON.stringify({ kind: 'instance_log_lines', instance_id, lines: fresh }) : fresh.join('\n'));
    }
    if (!running) return undefined;
    await pause(LOOK_MS);
  }
}

/** Fetches all lines of a file, page by page. */
async function diff(invocation: Invocation): Promise<CommandResult> {
  const input = { instance_id: idOf(invocation), ...given(invocation, 'path') };
  const first = await call(invocation, 'instances.diff', input);
  if (first.file === null) return { json: { kind: 'instance_diff', ...first }, text: filesLines(first, invocation.out.columns) };
  const lines = [...first.file.lines];
  while (lines.length < (first.file.total_lines ?? 0)) {
    const { file } = await call(invocation, 'instances.diff', { ...input, offset: lines.length });
    if (!file || file.lines.length === 0) break;
    lines.push(...file.lines);
  }
  const file = { ...first.file, lines };
  return { json: { kind: 'instance_diff', ...first, file }, text: fileLines(file) };
}

function ending(verb: 'stop' | 'abandon', summary: string, kind: string, did: string): CliCommand {
  return calling({
    name: `instances ${verb}`,
    summary,
    arguments: [{ ...ID, field: 'instance_id' }],
    options: REASON,
    examples: [`instances ${verb} 4KQ2ZP --reason "Done by hand"`],
    action: `instances.${verb}`,
    kind,
    text: (ended, { out }) => endedLines(ended, did, out.mark),
  });
}

async function clean(invocation: Invocation): Promise<CommandResult> {
  const instance_id = idOf(invocation);
  const force = invocation.values.force === true;
  if (force && canConfirm(invocation)) {
    const { instance } = await call(invocation, 'instances.show', { instance_id });
    if (instance.kept_reason !== null) {
      invocation.out.note(withoutPaint(`${instance.worktree_path}\n  ${instance.kept_reason}`));
      if (!(await confirm('Remove the worktree? A git ref keeps a backup of the work, but not of ignored files.')))
        return { json: { kind: 'instance_cleaned', instance, worktree: 'kept' }, text: 'Nothing was removed.', exit: 1 };
    }
  }
  const ended = await call(invocation, 'instances.clean', { instance_id, force });
  return { json: { kind: 'instance_cleaned', ...ended }, text: endedLines(ended, 'Cleaned up', invocation.out.mark), exit: ended.worktree === 'kept' ? 1 : 0 };
}
