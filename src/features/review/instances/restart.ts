import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { beginEnding } from './end.ts';
import { issueToken, kindFor, launch, type Restart, type RunningAgent, writeAgentFiles } from './launch.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import type { StartOutcome } from './start.ts';
import { LEASE_OVER, type LeasedInstance, leave, requireStillHeld, stillMine, TakenOver } from './step.ts';
import { changeInstance } from './store.ts';

/** Records that an agent that has ended must be restarted in its worktree with this prompt. */
export async function beginRestart(tx: Tx, row: InstanceRow, restart: Restart): Promise<void> {
  // The step is due now, so the next sweep restarts the agent.
  const values = { ...leave('restart', tx.now), step_data: JSON.stringify(restart), news: null, updated_at: tx.now };
  // The old process has exited. If the instance ends before the new process is recorded, that process must be found by the name of its session.
  await changeInstance(tx.db, row, { ...values, pid: null, process_start: null });
}

/** Restarts the agent. If that fails, the instance ends, because no agent would do its work. */
export async function carryOutRestart(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<StartOutcome> {
  let at = leased;
  try {
    const sessions = await outside.sessions(kindFor(outside, at));
    // A session from before the restart may be left over. It has the same name, so it must end first.
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
