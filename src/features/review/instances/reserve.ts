import { join } from 'node:path';
import { DEFAULT_WORKSPACE_ID, workspaceName } from '../../../kernel/ids.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { insertRows } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { InstanceType } from './contract.ts';
import { branchOf, nextId, stemOf } from './names.ts';
import { worktreesFolder } from './place.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { type LeasedInstance, lease } from './step.ts';
import { countRunning, idsOf } from './store.ts';

export interface InstanceRequest {
  readonly type: InstanceType;
  readonly agent: string;
  /** The developer for whom the agent works. */
  readonly developer: string | null;
  /** The top folder of the repository's working tree. */
  readonly repository: string;
  readonly baseBranch: string;
  /** The commit from which the new branch starts. */
  readonly baseCommit: string;
  readonly issue: number | null;
  /** Names of the worktree folders that already exist for this repository. */
  readonly folders: readonly string[];
  prompt(id: string, branch: string): string;
  readonly parent?: { readonly id: string; readonly iteration: number };
}

/** Records that an instance will be started, before anything is created. */
export async function reserve(
  tx: Tx,
  { machine, maxRunning }: Pick<InstanceOutside, 'machine' | 'maxRunning'>,
  ports: InstancePorts,
  actor: string,
  request: InstanceRequest,
): Promise<LeasedInstance> {
  // The lock is for the whole machine, because other workspaces start agents on it too.
  await tx.lock(`instances of ${machine}`);
  if ((await countRunning(tx.db, machine)) >= maxRunning) throw instanceLimit(maxRunning);
  const stem = stemOf(request.type, request.issue);
  // All workspaces share the session names and folders of a machine, so a workspace that is not the default one needs a prefix.
  const prefix = tx.workspace === DEFAULT_WORKSPACE_ID ? '' : `${workspaceName(tx.workspace)}_`;
  const there = request.folders.flatMap((folder) => (folder.startsWith(prefix) ? [folder.slice(prefix.length)] : []));
  const id = nextId(stem, [...(await idsOf(tx.db, tx.workspace, stem)), ...there]);
  const own = `${prefix}${id}`;
  const branch_name = branchOf(request.type, own);
  const worktree_path = join(worktreesFolder(request.repository), own);
  const row: LeasedInstance = {
    ...lease('worktree', tx.now),
    step_data: null,
    workspace_id: tx.workspace,
    id,
    type: request.type,
    status: 'started',
    agent: request.agent,
    developer_id: request.developer,
    agent_id: await ports.registerAgent(tx, { id, type: request.type, agent: request.agent, worktree_path, developer_id: request.developer }),
    token_id: null,
    machine,
    repository: request.repository,
    worktree_path,
    branch_name,
    base_branch: request.baseBranch,
    base_commit: request.baseCommit,
    session_name: own,
    session_kind: null,
    pid: null,
    process_start: null,
    issue_number: request.issue,
    prompt: request.prompt(id, branch_name),
    parent_instance_id: request.parent?.id ?? null,
    review_iteration: request.parent?.iteration ?? null,
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
    `This server already runs its maximum of ${most} instances.`,
    'Repeat the call when an instance has ended. A person can stop one with `covenant instances stop ID`, or raise `max_running` under `[instances]` in config.toml and restart the server.',
    { max_running: most },
  );
