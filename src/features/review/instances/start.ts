import { basename, dirname, join } from 'node:path';
import type { CallContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { DEFAULT_WORKSPACE_ID, workspaceName } from '../../../kernel/ids.ts';
import { invalidInput, notFound, Refusal } from '../../../kernel/reply.ts';
import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import { TmuxFailed } from '../../../machine/agent-sessions/tmux.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { type Located, RepositoryUnfit, reachRepository } from '../../../machine/git/repository.ts';
import { hasProgram } from '../../../machine/process/environment.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import { deleteRows, insertRows } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { InstanceType, instancesStart } from './contract.ts';
import { adopt, issue, kindFor, launch, putFiles, type RunningAgent, requireAwaited, required, TakenOver } from './launch.ts';
import { branchOf, nextId, stemOf } from './lifecycle.ts';
import { foldersIn, requireOwn, worktreesFolder } from './place.ts';
import { goOn, type InstanceOutside, type InstancePorts, LEASE_OVER, type LeasedInstance, lease, stillMine } from './step.ts';
import { endSession, removeFromDisk } from './stop.ts';
import { changeInstance, countRunning, idsOf } from './store.ts';

/** What an agent is told when it is started. It begins with our own words: no program takes them for an option. */
export interface AgentAssignment {
  readonly id: string;
  readonly branch: string;
  readonly baseBranch: string;
  readonly issue: number | null;
  /** What the person who started it said. */
  readonly prompt: string | undefined;
}

export function codingPrompt({ id, branch, baseBranch, issue, prompt }: AgentAssignment): string {
  return joined(
    `You are ${id}, a coding agent. You work in a git worktree of your own, on branch ${branch}, which starts from ${baseBranch}.`,
    issue === null ? undefined : `Your task is issue ${issue} of this repository. ${readIssue(issue)}`,
    prompt === undefined ? undefined : `${issue === null ? 'Your task' : 'What you are told besides'}:\n\n${prompt}`,
    `How to work, with the tools of the MCP server covenant:
- Stay in this worktree and on this branch. Commit as you go: what is not committed is not reviewed.
- When the work is done, tested and committed, call request_review, and say in completion_message what you did. A review agent looks at it.
- Then wait. You are told when there is feedback: it is merged into your branch as REVIEW_FEEDBACK.md. Without a terminal, end your turn: you are
  started again. Do what the feedback asks, commit, and call request_review again. The number of reviews is limited.
- If the reviewer approves, it opens the pull request and you are done. At the limit, or where no review is needed, open it yourself with
  create_pull_request (base_branch ${baseBranch}).`,
  );
}

export function planningPrompt({ id, branch, baseBranch, issue, prompt }: AgentAssignment): string {
  return joined(
    `You are ${id}, a planning agent. You work in a git worktree of your own, on branch ${branch}, which starts from ${baseBranch}.`,
    issue === null ? undefined : `What is to be planned is issue ${issue} of this repository. ${readIssue(issue)}`,
    prompt === undefined ? undefined : `${issue === null ? 'What is to be planned' : 'What you are told besides'}:\n\n${prompt}`,
    `How to work, with the tools of the MCP server covenant:
- Read the code and what is written about it. Change no code.
- Split the work into issues, each small enough for one agent and clear to somebody who knows only the repository: what is wanted, why, where,
  and how one sees that it is done. Create them with create_issues.
- Documents that belong to the plan are committed on this branch and proposed with create_pull_request (base_branch ${baseBranch}).`,
  );
}

const readIssue = (issue: number): string =>
  `Read it first, with its comments: \`gh issue view ${issue} --comments\` where gh is installed, else on the repository's host. If you cannot, say so instead of guessing.`;

const joined = (...parts: (string | undefined)[]): string => parts.filter((part) => part !== undefined).join('\n\n');

type Start = Input<typeof instancesStart>;

/** All that can be wrong with a start is found out before anything is made. */
export async function plannedStart(outside: InstanceOutside, ctx: CallContext, input: Start): Promise<Omit<InstanceRequest, 'developer'>> {
  const { type, issue = null, prompt, agent } = input;
  if (issue === null && prompt === undefined)
    throw invalidInput([{ field: 'prompt', message: 'expected an issue, a prompt, or both: the agent must know what to do' }]);
  requireLauncher(outside, agent, ctx.workspace);
  if (outside.url() === undefined) {
    throw new Refusal('NOT_SERVING', 'No server runs that the agent could call.', 'covenant up starts it; then start the instance again.');
  }
  const path = input.repository_path ?? ctx.repository;
  if (!path) throw invalidInput([{ field: 'repository_path', message: 'expected the path of the repository: your client does not report where it works' }]);
  try {
    const located = await reachRepository(outside, path, ctx.signal);
    const { branch, commit } = await startingPoint(outside, located, input.base_branch, ctx.signal);
    const repository = mainCheckout(located);
    return {
      type,
      agent,
      repository,
      folders: await foldersIn(outside, repository, ctx.signal),
      baseBranch: branch,
      baseCommit: commit,
      issue,
      prompt: (id, own) => (type === 'planning' ? planningPrompt : codingPrompt)({ id, branch: own, baseBranch: branch, issue, prompt }),
    };
  } catch (error) {
    throw repositoryRefusal(error, path);
  }
}

/** Worktrees of worktrees would lie all over the place. */
const mainCheckout = ({ root, commonDir }: Located): string => (basename(commonDir) === '.git' ? dirname(commonDir) : root);

async function startingPoint(
  { disk }: InstanceOutside,
  { root }: Located,
  base: string | undefined,
  signal: AbortSignal,
): Promise<{ branch: string; commit: string }> {
  if (base === undefined) return await disk.startingPoint(root, { signal });
  // Only a branch: `main~3` names a commit too, but nothing can be merged into it.
  const isName = await disk.requireBranchName(root, base, { signal }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitFailed) return false;
      throw error;
    },
  );
  const commit = isName ? await disk.resolveCommit(root, `refs/heads/${base}`, { signal }) : null;
  if (commit !== null) return { branch: base, commit };
  const next = 'Name a branch that `git branch` lists, or fetch it first.';
  throw notFound('BRANCH_NOT_FOUND', `There is no branch ${JSON.stringify(base)} in ${root}.`, next, 'base_branch');
}

function requireLauncher({ launchers: all, environment }: InstanceOutside, name: string, workspace: string): void {
  const launchers = Object.fromEntries(Object.entries(all).filter(([, { workspace: only = workspace }]) => only === workspace));
  const launcher = Object.hasOwn(launchers, name) ? launchers[name] : undefined;
  if (!launcher) {
    const there = `there are ${Object.keys(launchers).join(', ')} (the server reads config.toml when it starts)`;
    throw invalidInput([{ field: 'agent', message: `there is no launcher ${JSON.stringify(name)}; ${there}` }]);
  }
  if (hasProgram(launcher.command, environment(launcher.pass_env, launcher.env))) return;
  const next = `Install it where the server finds it, or set command under [launchers.${name}] in config.toml to its path and start the server again.`;
  throw new Refusal('LAUNCHER_MISSING', `The program ${JSON.stringify(launcher.command)} of the launcher ${name} is not on the server's PATH.`, next, {
    field: 'agent',
    program: launcher.command,
  });
}

export type StartOutcome = { readonly row: InstanceRow } | { readonly failure: unknown };

/** From what was written down to an agent at work, or back to nothing. Can be begun again by whoever takes it over. */
export async function carryOutStart(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<StartOutcome> {
  let at = leased;
  const before = givenUp(at);
  if (before !== null) {
    await undo(outside, ports, runner, at, before);
    return { failure: new Error(before) };
  }
  try {
    if (at.step === 'worktree') at = required(await prepare(outside, runner, at));
    const sessions = await outside.sessions(at.session_kind ?? kindFor(outside, at));
    let running = await adopt(sessions, at);
    if (!running) {
      await putFiles(outside, at);
      const { row, token } = await issue(ports, runner, at, sessions.kind);
      at = row;
      running = await launch(outside, sessions, at, token);
    }
    const session = running;
    return { row: required(await runner.write((tx) => settle(tx, runner.actor, at, session))) };
  } catch (failure) {
    if (!(failure instanceof TakenOver)) await undo(outside, ports, runner, at, messageOf(failure));
    return { failure };
  }
}

async function prepare(outside: InstanceOutside, runner: StepRunner, at: LeasedInstance): Promise<LeasedInstance | undefined> {
  const { repository, worktree_path, branch_name, base_commit } = at;
  await requireOwn(outside, worktree_path);
  await outside.disk.addWorktree(repository, { path: worktree_path, branch: branch_name, base: base_commit as string }, { signal: runner.signal });
  return await runner.write((tx) => goOn(tx, at, 'session'));
}

/** It is there for everybody: of a review, its parent waits from now on. */
async function settle(tx: Tx, actor: string, leased: LeasedInstance, session: RunningAgent): Promise<InstanceRow | undefined> {
  const row = await stillMine(tx, leased);
  if (!row) return undefined;
  const after = { ...row, ...LEASE_OVER, ...session, updated_at: tx.now, last_activity: tx.now };
  await changeInstance(tx.db, row, { ...LEASE_OVER, ...session, updated_at: tx.now, last_activity: tx.now });
  const payload = { type: row.type, agent: row.agent, branch: row.branch_name, parent: row.parent_instance_id, review_iteration: row.review_iteration };
  tx.append({ category: 'work', kind: 'instance.started', actor, subject: row.id, payload });
  const parent = await requireAwaited(tx, row);
  if (!parent || row.review_iteration === null) return after;
  await insertRows(tx.db, 'instance_relationships', {
    workspace_id: tx.workspace,
    parent_instance: parent.id,
    child_instance: row.id,
    relationship_type: 'spawned_review',
    review_iteration: row.review_iteration,
    outcome: null,
    created_at: tx.now,
    ended_at: null,
  });
  await changeInstance(tx.db, parent, { status: 'waiting_review', updated_at: tx.now, last_activity: tx.now });
  tx.append({
    category: 'work',
    kind: 'instance.waiting_review',
    actor,
    subject: parent.id,
    payload: { review: row.id, review_iteration: row.review_iteration },
  });
  return after;
}

/** Why it is being undone: whoever began that has said so to the caller, and it is not started after all. */
const givenUp = ({ step_data }: LeasedInstance): string | null => (step_data === null ? null : (JSON.parse(step_data) as { undo: string }).undo);

/** What was made goes, as nobody was told of it. Where work would be lost by that, the instance stays on record as one that ended. */
async function undo(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, at: LeasedInstance, reason: string): Promise<void> {
  const leased = await runner.write((tx) => goOn(tx, at, at.step, { step_data: JSON.stringify({ undo: reason }) }));
  if (!leased) return;
  await endSession(outside, leased);
  await outside.disk.discardUnfinished(leased.repository, leased.worktree_path).catch(() => {});
  const left = await removeFromDisk(outside, leased, false);
  await runner.write(async (tx) => {
    const row = await stillMine(tx, leased);
    if (!row) return;
    const over = { ...LEASE_OVER, status: 'terminated', status_reason: reason, kept_reason: left.reason, ended_at: tx.now, updated_at: tx.now } as const;
    if (left.reason === null) await deleteRows(tx.db, 'instances', { workspace_id: row.workspace_id, id: row.id });
    else await changeInstance(tx.db, row, over);
    if (row.token_id !== null) await ports.revokeToken(tx, row.token_id, runner.actor);
    await ports.agentLeaves(tx, row.agent_id, runner.actor);
    const payload = { type: row.type, agent: row.agent, parent: row.parent_instance_id, reason: reason.slice(0, 200) };
    tx.append({ category: 'work', kind: 'instance.failed', actor: runner.actor, subject: row.id, payload });
  });
}

const NEXT: Record<RepositoryUnfit['why'], string> = {
  missing: "Name a git repository on the server's machine.",
  not_git: "Name a git repository on the server's machine: git init makes one.",
  detached: 'Check out the branch to start from, or name it with base_branch.',
  empty: 'Make the first commit, and start again.',
};

/** What is wrong with the repository that was named. */
export function repositoryRefusal(error: unknown, path: string): unknown {
  if (error instanceof RepositoryUnfit) return new Refusal('REPOSITORY_UNFIT', `${sentence(error)}`, NEXT[error.why], { field: 'repository_path', path });
  if (error instanceof ProgramMissing || error instanceof GitFailed) return startFailed(error);
  return error;
}

/** What whoever wanted it started is told. What was begun has been undone. */
export function startFailed(error: unknown): unknown {
  if (error instanceof Refusal || (error instanceof Error && error.name === 'AbortError')) return error;
  if (error instanceof TakenOver) return new Refusal('BUSY', 'Another server goes on with starting it.', 'covenant instances list shows what became of it.');
  const [code, next] = codeAndNext(error);
  return new Refusal(code, `No agent was started: ${messageOf(error)}. Nothing was changed.`, next);
}

function codeAndNext(error: unknown): [code: string, next: string] {
  if (error instanceof GitFailed) return ['GIT_FAILED', 'Put right what git complains of, and try again.'];
  if (error instanceof TmuxFailed) return ['TMUX_FAILED', 'Try again; if it fails again: covenant doctor.'];
  if (error instanceof ProgramMissing) return ['PROGRAM_MISSING', `Install ${error.program} on the server's machine.`];
  return ['AGENT_NOT_STARTED', "Try again; if it fails again, its launcher in config.toml or the server's log may tell why."];
}

const sentence = ({ message }: Error): string => `${message[0]?.toUpperCase()}${message.slice(1)}.`;

export interface InstanceRequest {
  readonly type: InstanceType;
  readonly agent: string;
  /** For whom it works. */
  readonly developer: string | null;
  /** The top of its working tree. */
  readonly repository: string;
  readonly baseBranch: string;
  /** What the new branch starts from. */
  readonly baseCommit: string;
  readonly issue: number | null;
  /** Folders beside the repository that are there already. */
  readonly folders: readonly string[];
  prompt(id: string, branch: string): string;
  readonly parent?: { readonly id: string; readonly iteration: number };
}

/** Writes down what is about to be started, before anything is. */
export async function reserve(
  tx: Tx,
  { machine, maxRunning }: Pick<InstanceOutside, 'machine' | 'maxRunning'>,
  ports: InstancePorts,
  actor: string,
  wanted: InstanceRequest,
): Promise<LeasedInstance> {
  // Other workspaces start agents on this machine too.
  await tx.lock(`instances of ${machine}`);
  if ((await countRunning(tx.db, machine)) >= maxRunning) throw instanceLimit(maxRunning);
  const stem = stemOf(wanted.type, wanted.issue);
  // Sessions and folders are the machine's, whatever the workspace.
  const prefix = tx.workspace === DEFAULT_WORKSPACE_ID ? '' : `${workspaceName(tx.workspace)}_`;
  const there = wanted.folders.flatMap((folder) => (folder.startsWith(prefix) ? [folder.slice(prefix.length)] : []));
  const id = nextId(stem, [...(await idsOf(tx.db, tx.workspace, stem)), ...there]);
  const own = `${prefix}${id}`;
  const branch_name = branchOf(wanted.type, own);
  const worktree_path = join(worktreesFolder(wanted.repository), own);
  const row: LeasedInstance = {
    ...lease('worktree', tx.now),
    step_data: null,
    workspace_id: tx.workspace,
    id,
    type: wanted.type,
    status: 'started',
    agent: wanted.agent,
    developer_id: wanted.developer,
    agent_id: await ports.registerAgent(tx, { id, type: wanted.type, agent: wanted.agent, worktree_path, developer_id: wanted.developer }),
    token_id: null,
    machine,
    repository: wanted.repository,
    worktree_path,
    branch_name,
    base_branch: wanted.baseBranch,
    base_commit: wanted.baseCommit,
    session_name: own,
    session_kind: null,
    pid: null,
    process_start: null,
    issue_number: wanted.issue,
    prompt: wanted.prompt(id, branch_name),
    parent_instance_id: wanted.parent?.id ?? null,
    review_iteration: wanted.parent?.iteration ?? null,
    failed_reviews: 0,
    pr_number: null,
    pr_url: null,
    news: null,
    status_reason: null,
    kept_reason: null,
    backup_ref: null,
    created_by: actor,
    created_at: tx.now,
    updated_at: tx.now,
    last_activity: tx.now,
    ended_at: null,
    extra_reviews: 0,
  };
  await insertRows(tx.db, 'instances', row);
  return row;
}

const instanceLimit = (most: number): Refusal =>
  new Refusal(
    'INSTANCE_LIMIT',
    `This server runs ${most} instances at once, and all ${most} are taken.`,
    'covenant instances stop ID ends one; the operator can raise max_running under [instances] in config.toml.',
    { max_running: most },
  );
