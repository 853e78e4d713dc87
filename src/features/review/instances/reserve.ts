import { basename, dirname, join } from 'node:path';
import type { CallContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { DEFAULT_WORKSPACE_ID, workspaceName } from '../../../kernel/ids.ts';
import { invalidInput, notFound, Refusal } from '../../../kernel/reply.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { type Located, RepositoryUnfit, reachRepository } from '../../../machine/git/repository.ts';
import { hasProgram } from '../../../machine/process/environment.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import { insertRows } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { InstanceType, instancesStart } from './contract.ts';
import { branchOf, nextId, stemOf } from './names.ts';
import { foldersIn, worktreesFolder } from './place.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { codingPrompt, planningPrompt } from './prompts.ts';
import { startFailed } from './start.ts';
import { type LeasedInstance, lease } from './step.ts';
import { countRunning, idsOf } from './store.ts';

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

/** All that can be wrong with a start is found out before anything is made. */
export async function planStart(outside: InstanceOutside, ctx: CallContext, input: Input<typeof instancesStart>): Promise<Omit<InstanceRequest, 'developer'>> {
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

const NEXT_OF_UNFIT: Record<RepositoryUnfit['why'], string> = {
  missing: "Name a git repository on the server's machine.",
  not_git: "Name a git repository on the server's machine: git init makes one.",
  detached: 'Check out the branch to start from, or name it with base_branch.',
  empty: 'Make the first commit, and start again.',
};

/** What is wrong with the repository that was named. */
function repositoryRefusal(error: unknown, path: string): unknown {
  if (error instanceof RepositoryUnfit)
    return new Refusal('REPOSITORY_UNFIT', `${sentence(error)}`, NEXT_OF_UNFIT[error.why], { field: 'repository_path', path });
  if (error instanceof ProgramMissing || error instanceof GitFailed) return startFailed(error);
  return error;
}

const sentence = ({ message }: Error): string => `${message[0]?.toUpperCase()}${message.slice(1)}.`;

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
