import type { StepRunner } from '../../../kernel/step.ts';
import type { AgentSessions, SessionHandle } from '../../../machine/agent-sessions/agent-session.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { type RemovalResult, removeFromDisk } from './removal.ts';
import { LEASE_OVER, type LeasedInstance, lease, leave, stillMine } from './step.ts';
import { changeInstance } from './store.ts';

export interface InstanceEnding {
  /**
   * Whether to remove the worktree even if it contains unsaved work, which is backed up first. This is true if a person forces the removal, and for a
   * review agent whose feedback was delivered.
   */
  readonly force: boolean;
}

/** If an instance ends because of its own call, it gets this much time to read the answer before its session ends. */
export const EXIT_GRACE_MS = 5_000;

/**
 * Records that an instance ends. With `graceMs`, the sweep removes its session and worktree after that time. Without `graceMs`, the caller
 * removes them immediately.
 */
export async function beginEnding(tx: Tx, row: InstanceRow, values: Partial<InstanceRow>, ending: InstanceEnding, graceMs?: number): Promise<LeasedInstance> {
  const step = graceMs === undefined ? lease('ending', tx.now) : leave('ending', tx.now + graceMs);
  const change = { ...values, ...step, step_data: JSON.stringify(ending), updated_at: tx.now };
  await changeInstance(tx.db, row, change);
  return { ...row, ...change };
}

/**
 * Ends the session of the agent, removes the worktree and records the end, in this order. If this process dies, a server that takes over can repeat
 * everything from the beginning.
 */
export async function carryOutEnd(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<InstanceRow> {
  await endSession(outside, leased);
  const ending = JSON.parse(leased.step_data ?? '{"force":false}') as InstanceEnding;
  const left = await removeFromDisk(outside, leased, ending);
  return await runner.write((tx) => settleEnd(tx, ports, runner.actor, leased, left));
}

/** Saves the last screen of the terminal, then ends the session and all of its processes. */
export async function endSession(outside: InstanceOutside, row: InstanceRow): Promise<void> {
  if (row.session_kind === null) return;
  const sessions = await outside.sessions(row.session_kind);
  const handle = row.pid === null ? await sessions.find(row.session_name) : { name: row.session_name, pid: row.pid, started: row.process_start ?? 0 };
  if (!handle) return;
  // If the screen cannot be saved, for example on a full disk, the session still ends.
  if (row.session_kind === 'tmux') await keepScreen(outside, sessions, handle).catch(() => {});
  await sessions.end(handle);
}

const KEPT_LINES = 5_000;
const keepScreen = async (outside: InstanceOutside, sessions: AgentSessions, handle: SessionHandle): Promise<void> =>
  await outside.keepScreen(handle.name, await sessions.screen(handle, KEPT_LINES));

async function settleEnd(tx: Tx, ports: InstancePorts, actor: string, leased: LeasedInstance, { reason, backup }: RemovalResult): Promise<InstanceRow> {
  const row = await stillMine(tx, leased);
  // Another server has taken over. That server records the end.
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
