import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import type { AgentSessions, SessionHandle } from '../../../machine/agent-sessions/agent-session.ts';
import { reasonAgainstForce, reasonToKeep } from '../../../machine/git/reason-to-keep.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { requireOwn } from './place.ts';
import { type InstanceOutside, type InstancePorts, LEASE_OVER, type LeasedInstance, lease, leave, stillMine } from './step.ts';
import { changeInstance } from './store.ts';

/** How an instance is to be taken from the machine. */
export interface InstanceEnding {
  /** A person wants its worktree gone whatever is in it; or its work has been delivered. A backup is kept. */
  readonly force: boolean;
}

/** So long whoever called as the instance has to read its answer, before its session goes. */
export const EXIT_GRACE_MS = 5_000;

/**
 * The decision that an instance is over: who it was is over at once, its session and worktree are taken away after that.
 * `graceMs`: the sweep does it, after that time; else whoever called this carries it out at once.
 */
export async function beginEnding(tx: Tx, row: InstanceRow, values: Partial<InstanceRow>, ending: InstanceEnding, graceMs?: number): Promise<LeasedInstance> {
  const step = graceMs === undefined ? lease('ending', tx.now) : leave('ending', tx.now + graceMs);
  const change = { ...values, ...step, step_data: JSON.stringify(ending), updated_at: tx.now };
  await changeInstance(tx.db, row, change);
  return { ...row, ...change };
}

/** Agent, then session, then worktree. Can be begun again by whoever takes it over. */
export async function carryOutEnd(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<InstanceRow> {
  await endSession(outside, leased);
  const { force } = JSON.parse(leased.step_data ?? '{"force":false}') as InstanceEnding;
  const left = await removeFromDisk(outside, leased, force);
  return await runner.write((tx) => settleEnd(tx, ports, runner.actor, leased, left));
}

/** What it showed last stays readable; then it, and all that it started, ends. */
export async function endSession(outside: InstanceOutside, row: InstanceRow): Promise<void> {
  if (row.session_kind === null) return;
  const sessions = await outside.sessions(row.session_kind);
  const handle = row.pid === null ? await sessions.find(row.session_name) : { name: row.session_name, pid: row.pid, started: row.process_start ?? 0 };
  if (!handle) return;
  // Where that cannot be kept (the disk is full, say) it still ends.
  if (row.session_kind === 'tmux') await keepScreen(outside, sessions, handle).catch(() => {});
  await sessions.end(handle);
}

const KEPT_LINES = 5_000;
const keepScreen = async (outside: InstanceOutside, sessions: AgentSessions, handle: SessionHandle): Promise<void> =>
  await outside.keepScreen(handle.name, await sessions.screen(handle, KEPT_LINES));

export type OnDisk = Pick<InstanceRow, 'repository' | 'worktree_path' | 'branch_name' | 'base_branch' | 'session_name'>;

export interface Left {
  /** Null: the worktree is gone. */
  readonly reason: string | null;
  readonly backup: string | null;
}

/** With what its branch is compared: what only passing branches keep is not kept. */
export const againstOf = ({ branch_name: branch, base_branch: base }: Pick<OnDisk, 'branch_name' | 'base_branch'>) => ({
  branch,
  base,
  mergeCommit: null,
  passing: `${branch.split('/')[0]}/`,
});

/** Takes worktree and branch away, if nothing is lost by it, or if what would be is kept by a backup. Never cut short: half a removal looks like deletions. */
export async function removeFromDisk(outside: InstanceOutside, row: OnDisk, force: boolean): Promise<Left> {
  const { disk, files } = outside;
  let backup: string | null = null;
  try {
    await requireOwn(outside, row.worktree_path);
    const { repository, worktree_path: path, branch_name: branch, base_branch } = row;
    // The repository itself is gone. It may come back (a disk that is not mounted): a person has to say that it does not.
    if (force && !(await files.isFolder(repository)) && !(await files.isFolder(path))) return { reason: null, backup };
    const state = await disk.worktreeState(repository, path, againstOf(row));
    const reason = reasonToKeep(state, { branch, base_branch });
    if (reason === null) {
      if (state.listed) await disk.removeWorktree(repository, path);
    } else {
      const against = force ? reasonAgainstForce(state) : reason;
      if (against !== null) return { reason: against, backup };
      if (state.listed && state.exists) {
        backup = await disk.backUp(path, row.session_name, branch);
        await disk.forceWorktreeAway(repository, path);
      } else if (state.branchTip !== null) {
        backup = await disk.backUpCommit(repository, row.session_name, state.branchTip);
      }
    }
    // If it has moved on since it was looked at, it stays.
    if (state.branchTip !== null) await disk.deleteBranch(repository, branch, state.branchTip);
    return { reason: null, backup };
  } catch (error) {
    return { reason: messageOf(error), backup };
  }
}

async function settleEnd(tx: Tx, ports: InstancePorts, actor: string, leased: LeasedInstance, { reason, backup }: Left): Promise<InstanceRow> {
  const row = await stillMine(tx, leased);
  // Another has taken it over meanwhile, and records it.
  if (!row) return leased;
  const values = {
    ...LEASE_OVER,
    pid: null,
    process_start: null,
    kept_reason: reason,
    backup_ref: backup ?? row.backup_ref,
    ended_at: row.ended_at ?? tx.now,
    updated_at: tx.now,
  };
  await changeInstance(tx.db, row, values);
  if (row.token_id !== null) await ports.revokeToken(tx, row.token_id, actor);
  await ports.agentLeaves(tx, row.agent_id, actor);
  const worktree = reason === null ? 'removed' : 'kept';
  const payload = {
    type: row.type,
    status: row.status,
    worktree,
    ...(reason === null ? {} : { reason: reason.slice(0, 200) }),
    ...(backup === null ? {} : { backup_ref: backup }),
  };
  tx.append({ category: 'work', kind: row.ended_at === null ? 'instance.ended' : 'instance.cleaned', actor, subject: row.id, payload });
  return { ...row, ...values };
}
