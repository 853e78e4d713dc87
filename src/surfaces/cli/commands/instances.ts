import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { call, calling } from '../call.ts';
import { findServer } from '../client.ts';
import { type CliCommand, CliError, type CommandResult, given, type Invocation, option, UsageError } from '../command.ts';
import { canConfirm, confirm } from '../confirm.ts';
import { withoutPaint } from '../output.ts';
import { fileLines, filesLines } from './instances-diff-text.ts';
import { endedLines, listLines, newLines, showLines } from './instances-text.ts';

const idOf = ({ positionals }: Invocation): string => positionals[0] as string;
const LOOK_MS = 1_000;

/** Agents that the server starts, each in a worktree and session of its own. */
export const instanceCommands: readonly CliCommand[] = [
  {
    name: 'instances start',
    summary: 'Start an agent on an issue or a prompt: --issue N, --prompt TEXT, or both; --type coding or planning; --agent NAME is a launcher.',
    options: {
      repo: { type: 'string' },
      issue: { type: 'string' },
      prompt: { type: 'string' },
      type: { type: 'string' },
      agent: { type: 'string' },
      base: { type: 'string' },
    },
    run: start,
  },
  calling({
    name: 'instances list',
    summary: 'The instances, the newest first; with --status, --type and --repository those.',
    options: { status: { type: 'string' }, type: { type: 'string' }, repository: { type: 'string' } },
    action: 'instances.list',
    input(invocation) {
      const status = option(invocation, 'status');
      return { ...given(invocation, 'type', 'repository'), ...(status === undefined ? {} : { status: status.split(',') }) };
    },
    kind: 'instance_list',
    text: (listed) => listLines(listed, Date.now()),
  }),
  calling({
    name: 'instances show',
    summary: 'One instance with its reviews, their feedback, and what went wrong.',
    positionals: { ID: 'instance_id' },
    action: 'instances.show',
    kind: 'instance',
    text: (shown, { out }) => showLines(shown, out.mark, Date.now()),
  }),
  {
    name: 'instances attach',
    summary: 'Look at the terminal of an instance; with --write type into it. Ctrl-b d leaves it.',
    positionals: ['ID'],
    options: { write: { type: 'boolean' } },
    run: attach,
  },
  {
    name: 'instances logs',
    summary: 'The end of what an instance shows; --lines N says how much, --follow goes on until it ends.',
    positionals: ['ID'],
    options: { lines: { type: 'string' }, follow: { type: 'boolean' } },
    async run(invocation) {
      const lines = option(invocation, 'lines');
      if (lines !== undefined && !/^[1-9]\d{0,3}$|^10000$/.test(lines)) throw new UsageError('--lines is not a number from 1 to 10000');
      if (invocation.values.follow) return await follow(invocation, lines === undefined ? 200 : Number(lines));
      const log = await logOf(invocation, lines === undefined ? 200 : Number(lines));
      return { json: { kind: 'instance_log', ...log }, text: withoutPaint(log.text) || `${log.instance_id} has shown nothing.` };
    },
  },
  {
    name: 'instances diff',
    summary: 'What an instance has changed, also what is not committed; with --path PATH the changed lines of that file.',
    positionals: ['ID'],
    options: { path: { type: 'string' } },
    run: diff,
  },
  calling({
    name: 'instances message',
    summary: 'Write to the agent of an instance: --text TEXT is in its inbox at once, and typed into its terminal.',
    positionals: { ID: 'instance_id' },
    options: { text: { type: 'string' } },
    action: 'instances.message',
    input(invocation) {
      const message = option(invocation, 'text');
      if (message === undefined) throw new UsageError('--text is missing: what it is to read');
      return { message };
    },
    kind: 'instance_message',
    text({ message_id, instance_id, reaches }) {
      const how = reaches === 'terminal' ? 'It is typed into its terminal within seconds.' : 'It hears of it when its program is started again.';
      return `Sent ${message_id} to ${instance_id}. ${how}`;
    },
  }),
  {
    name: 'instances allow',
    summary: 'Allow an instance one more review than the limit; --withdraw takes back one that has not begun.',
    positionals: ['ID'],
    options: { withdraw: { type: 'boolean' } },
    async run(invocation) {
      const withdraw = invocation.values.withdraw === true;
      const instance = await call(invocation, 'instances.allow_review', { instance_id: idOf(invocation), withdraw });
      const text = `${instance.id} may have ${instance.max_reviews} reviews; it has had ${instance.reviews}.`;
      return { json: { kind: 'instance_review_limit', instance }, text };
    },
  },
  ending('stop', 'End the agent of an instance; its worktree goes if nothing in it would be lost.', 'instance_stopped', 'Stopped'),
  ending('abandon', 'Give the work of an instance up: its agent and its review end.', 'instance_abandoned', 'Abandoned'),
  {
    name: 'instances clean',
    summary: 'Remove what was kept of an ended instance; with --force also unsaved work, of which a backup ref is kept.',
    positionals: ['ID'],
    options: { force: { type: 'boolean' }, yes: { type: 'boolean' } },
    run: clean,
  },
];

async function start(invocation: Invocation): Promise<CommandResult> {
  const { type, issue, repo, base } = invocation.values;
  if (type === undefined) throw new UsageError('--type is missing: coding or planning');
  if (issue !== undefined && !/^[1-9]\d{0,8}$/.test(String(issue))) throw new UsageError('--issue is not a number');
  if (!(await findServer(invocation.env))) {
    throw new CliError('NOT_SERVING', 'No server of this home runs, and the agent could call none.', 'covenant up, in another terminal');
  }
  const instance = await call(invocation, 'instances.start', {
    repository_path: resolve(invocation.cwd, typeof repo === 'string' ? repo : '.'),
    ...given(invocation, 'type', 'prompt', 'agent'),
    ...(issue === undefined ? {} : { issue: Number(issue) }),
    ...(base === undefined ? {} : { base_branch: base }),
  });
  const { mark } = invocation.out;
  const where = instance.session_kind === 'tmux' ? 'in tmux' : 'as a plain process: there is no tmux';
  const look = `covenant instances ${instance.session_kind === 'tmux' ? 'attach' : 'logs'} ${instance.id}`;
  const text = withoutPaint(`${instance.id} works on branch ${instance.branch}, ${where}.\n  ${instance.worktree_path}`);
  return { json: { kind: 'instance_started', instance }, text: `${mark.good} ${text}\n    next: ${look}` };
}

/** The user's own tmux, on the server's socket. */
async function attach(invocation: Invocation): Promise<CommandResult | undefined> {
  const shown = await call(invocation, 'instances.show', { instance_id: idOf(invocation) });
  const { instance } = shown;
  const command = shown.attach?.filter((word) => word !== '-r' || invocation.values.write !== true) ?? null;
  if (invocation.json) return { json: { kind: 'instance_attach', instance_id: instance.id, command }, text: '' };
  if (!instance.running) throw new CliError('NOT_RUNNING', `${instance.id} does not run.`, `covenant instances logs ${instance.id}`);
  if (command === null) {
    const why = instance.session_kind === 'process' ? 'has no terminal: it runs as a plain process' : 'has no terminal that can be shown from here';
    invocation.out.note(`${instance.id} ${why}. This is its log; Ctrl-C ends this.`);
    return await follow(invocation, 200);
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError('NO_TERMINAL', 'This is no terminal that another could be shown in.', `covenant instances logs ${instance.id} --follow`);
  }
  const [file = 'tmux', ...args] = command;
  // Inside another tmux it would refuse.
  const { TMUX: _, ...env } = invocation.env;
  const child = spawn(file, args, { stdio: 'inherit', env });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? undefined : { json: { kind: 'instance_attach' }, text: '', exit: 1 };
}

const logOf = (invocation: Invocation, lines: number) => call(invocation, 'instances.logs', { instance_id: idOf(invocation), lines });

/** Until it ends, or the command is interrupted. */
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

/** Fetches all lines of a file, in as many calls as that takes. */
async function diff(invocation: Invocation): Promise<CommandResult> {
  const input = { instance_id: idOf(invocation), ...given(invocation, 'path') };
  const first = await call(invocation, 'instances.diff', input);
  if (first.file === null) return { json: { kind: 'instance_diff', ...first }, text: filesLines(first) };
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
    positionals: { ID: 'instance_id' },
    options: { reason: { type: 'string' } },
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
      if (!(await confirm('Remove it all the same? A backup ref keeps what is in it, but for ignored files.')))
        return { json: { kind: 'instance_cleaned', instance, worktree: 'kept' }, text: 'Nothing was removed.', exit: 1 };
    }
  }
  const ended = await call(invocation, 'instances.clean', { instance_id, force });
  return { json: { kind: 'instance_cleaned', ...ended }, text: endedLines(ended, 'Cleaned up', invocation.out.mark), exit: ended.worktree === 'kept' ? 1 : 0 };
}
