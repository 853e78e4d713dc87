import type { Services } from '../../../kernel/call.ts';
import { messageOf, type StepRunner } from '../../../kernel/step.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { SessionLook } from '../../../machine/agent-sessions/agent-session.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { beginEnding, carryOutEnd } from './end.ts';
import { issue, kindFor, launch, putFiles, type Restart, type RunningAgent, required, TakenOver } from './launch.ts';
import { stillUnheard } from './lifecycle.ts';
import { reviewOver } from './review-over.ts';
import { carryOutStart, type StartOutcome } from './start.ts';
import { finishOverdue, type InstanceOutside, type InstancePorts, LEASE_OVER, type LeasedInstance, leave, stillMine } from './step.ts';
import { atWork, changeInstance, findInstance, stepsUnderWay } from './store.ts';

const EVERY_MS = 5_000;
/** A third of an agent's lease: a note of it costs a write. */
const NOTE_MS = 30_000;

/** Looks after the agents that are meant to run, also those that an earlier server process has started. */
export function livenessSweep({ store, clock, log }: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  const noted = new Map<string, number>();

  async function look(row: InstanceRow): Promise<void> {
    // That its agent ended was noted before: it is started again when there is something to do.
    if (row.session_kind === null || (row.pid === null && row.status !== 'started')) return;
    const sessions = await outside.sessions(row.session_kind);
    const handle = row.pid === null ? null : { name: row.session_name, pid: row.pid, started: row.process_start ?? 0 };
    const seen: SessionLook = handle ? await sessions.look(handle) : { state: 'gone' };
    if (seen.state === 'running' && row.session_kind === 'process') await outside.boundLog(row.session_name);
    if (seen.state === 'running' && handle && row.news !== null && (await sessions.type(handle, row.news))) await noteHeard(row);
    if (seen.state === 'running' && clock.now() - (noted.get(row.agent_id) ?? 0) < NOTE_MS) return;
    noted.set(row.agent_id, clock.now());
    await store.write(row.workspace_id, async (tx) => {
      const now = await findInstance(tx.db, tx.workspace, row.id);
      // Somebody has begun to do something to it meanwhile.
      if (!now || now.step !== null || now.ended_at !== null || now.pid !== row.pid) return;
      if (seen.state === 'running') await ports.agentSeen(tx, now.agent_id);
      else await noteEnd(tx, now, inWords(seen));
    });
  }

  /** Should its program end now, it has ended by itself. */
  async function noteHeard({ workspace_id, id, news }: InstanceRow): Promise<void> {
    await store.write(workspace_id, async (tx) => {
      const now = await findInstance(tx.db, tx.workspace, id);
      if (now && news !== null) await changeInstance(tx.db, now, { news: stillUnheard(now, news) });
    });
  }

  async function noteEnd(tx: Tx, row: InstanceRow, reason: string): Promise<void> {
    if (row.type === 'review') {
      // It has said its word, which is being delivered: that ends it.
      if ((await ports.feedbackOf(tx.db, tx.workspace, row.id)).length > 0) return;
      const message = { subject: 'Your review ended without feedback', body: `${row.id}: ${reason}. Call request_review again.` };
      await reviewOver(tx, ports, row, { actor: 'server', outcome: 'ended', reason, message, graceMs: 0 });
    } else if (row.status === 'started' && row.news !== null) {
      await beginRestart(tx, row, { prompt: row.news });
    } else if (row.status === 'started') {
      await beginEnding(tx, row, { status: 'terminated', status_reason: reason }, { force: false }, 0);
    } else {
      // One whose work is being looked at, or is a pull request, need not run.
      await changeInstance(tx.db, row, { pid: null, process_start: null, updated_at: tx.now });
    }
  }

  return {
    name: 'instances',
    everyMs: EVERY_MS,
    async run() {
      const rows = await atWork(store.reader, outside.machine);
      for (const id of noted.keys()) if (!rows.some(({ agent_id }) => agent_id === id)) noted.delete(id);
      for (const row of rows) {
        await look(row).catch((error: unknown) => log.error('instance not looked at', { instance: row.id, error }));
      }
    },
  };
}

function inWords(seen: SessionLook): string {
  return seen.state === 'ended' && seen.code !== null ? `its agent ended with code ${seen.code}` : 'its agent ended';
}

/** Those that put an agent to work and take it away; what is done for it elsewhere is finished by whoever began it. */
const FINISH = { worktree: carryOutStart, session: carryOutStart, restart: carryOutRestart, ending: carryOutEnd } as const;
type Step = keyof typeof FINISH;
const STEPS = Object.keys(FINISH) as Step[];

/** Carries out every step that is due: what was put off for a moment, and what a process began and did not live to record. */
export const stepSweep = (services: Services, outside: InstanceOutside, ports: InstancePorts): Sweep => ({
  name: 'instance steps',
  everyMs: EVERY_MS,
  async run() {
    const seen = await stepsUnderWay(services.store.reader, outside.machine, STEPS);
    await finishOverdue(services, seen, (runner, row) => FINISH[row.step as Step](outside, ports, runner, row));
  },
});

/** Writes down that its agent, which has ended, is to be started anew in the worktree that it had, with these words. */
export async function beginRestart(tx: Tx, row: InstanceRow, restart: Restart): Promise<void> {
  // The sweep does it, at once.
  const values = { ...leave('restart', tx.now), step_data: JSON.stringify(restart), news: null, updated_at: tx.now };
  // The process that was is gone. Whoever ends the instance before the next is recorded must look for that by its name.
  await changeInstance(tx.db, row, { ...values, pid: null, process_start: null });
}

/** Where it cannot be, the instance ends: nobody would do its work. */
export async function carryOutRestart(outside: InstanceOutside, ports: InstancePorts, runner: StepRunner, leased: LeasedInstance): Promise<StartOutcome> {
  let at = leased;
  try {
    const sessions = await outside.sessions(kindFor(outside, at));
    // What is left of the one before has the same name.
    const before = await sessions.find(at.session_name);
    if (before) await sessions.end(before);
    await putFiles(outside, at);
    const { row, token } = await issue(ports, runner, at, sessions.kind);
    at = row;
    const running = await launch(outside, sessions, at, token);
    return { row: required(await runner.write((tx) => settle(tx, runner.actor, at, running))) };
  } catch (failure) {
    if (!(failure instanceof TakenOver)) await runner.write((tx) => giveUp(tx, at, `its agent could not be started again: ${messageOf(failure)}`));
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
