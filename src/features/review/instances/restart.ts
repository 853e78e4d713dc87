import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { beginEnding } from './end.ts';
import { issueToken, kindFor, launch, type Restart, type RunningAgent, writeAgentFiles } from './launch.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import type { StartOutcome } from './start.ts';
import { LEASE_OVER, type LeasedInstance, leave, requireStillHeld, stillMine, TakenOver } from './step.ts';
import { changeInstance } from './store.ts';

/** Records that the ended agent must be restarted in its worktree with this prompt. */
export async function beginRestart(tx: Tx, row: InstanceRow, restart: Restart): Promise<void> {
  // The sweep restarts it immediately.
  const values = { ...leave('restart', tx.now), step_data: JSON.stringify(restart), news: null, updated_at: tx.now };
  // The old process has exited. Until the new process is recorded, ending the instance must find it by its session name.
  await changeInstance(tx.db, row, { ...values, pid: null, process_start: null });
}

/** If the restart fails, the instance ends, because nobody would do its work. */
export async function carryOutRestart(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<StartOutcome> {
  let at = leased;
  try {
    const sessions = await outside.sessions(kindFor(outside, at));
    // A session that is left over from before the restart has the same name.
    const before = await sessions.find(at.session_name);
    if (before) await sessions.end(before);
    await writeAgentFiles(outside, at);
    const { row, token } = await issueToken(ports, runner, at, sessions.kind);
    at = row;
    const running = await launch(outside, sessions, at, token);
    return { row: requireStillHeld(await runner.write((tx) => settle(tx, runner.actor, at, running))) };
  } catch (failure) {
    if (!(failure instanceof TakenOver)) await runner.write((tx) => giveUp(tx, at, `its agent could not be restarted: ${messageOf(failure)}`));
    return { failure };
  }
}

async function giveUp(tx: Tx, at: LeasedInstance, status_reason: string): Promise<void> {
  const row = await stillMine(tx, at);
  if (row) await beginEnding(tx, row, { status: 'terminated', status_reason }, { force: false }, 0);
}

async function settle(tx: Tx, actor: string, leased: LeasedInstance, session: RunningAgent): Promise<InstanceRow | undefined> {
  const row = await stillMine(tx, leased);
  if (!row) return undefined;
  const values = { ...LEASE_OVER, ...session, updated_at: tx.now, last_activity: tx.now };
  await changeInstance(tx.db, row, values);
  tx.append({ category: 'work', kind: 'instance.restarted', actor, subject: row.id, payload: { agent: row.agent } });
  return { ...row, ...values };
}
