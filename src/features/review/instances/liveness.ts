import type { Services } from '../../../kernel/call.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { SessionLook } from '../../../machine/agent-sessions/agent-session.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { concludeReview } from './conclude-review.ts';
import { beginEnding } from './end.ts';
import { newsAfter } from './lifecycle.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { beginRestart } from './restart.ts';
import { atWork, changeInstance, findInstance } from './store.ts';

const EVERY_MS = 5_000;
/**
 * How often the server records that an agent is running. Each record is a write, so this is not done at every check. The interval is a third of an
 * agent's lease.
 */
const NOTE_MS = 30_000;

/** Checks the agents that should be running, including agents that an earlier server process started. */
export function livenessSweep({ store, clock, log }: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  const noted = new Map<string, number>();

  async function look(row: InstanceRow): Promise<void> {
    // The end of this agent is already recorded. The agent is restarted only when there is something for it to do.
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
      // Another step started in the meantime.
      if (!now || now.step !== null || now.ended_at !== null || now.pid !== row.pid) return;
      if (seen.state === 'running') await ports.agentSeen(tx, now.agent_id);
      else await noteEnd(tx, now, endReason(seen));
    });
  }

  /** Removes the news from the row as soon as it is typed. Otherwise the agent would be restarted for the same news when its program exits. */
  async function noteHeard({ workspace_id, id, news }: InstanceRow): Promise<void> {
    await store.write(workspace_id, async (tx) => {
      const now = await findInstance(tx.db, tx.workspace, id);
      if (now && news !== null) await changeInstance(tx.db, now, { news: newsAfter(now, news) });
    });
  }

  async function noteEnd(tx: Tx, row: InstanceRow, reason: string): Promise<void> {
    if (row.type === 'review') {
      // The feedback of this review is already stored. Its delivery will end the review.
      if ((await ports.feedbackOf(tx.db, tx.workspace, row.id)).length > 0) return;
      const message = { subject: 'Your review ended without feedback', body: `${row.id}: ${reason}. Call request_review again.` };
      await concludeReview(tx, ports, row, { actor: 'server', outcome: 'ended', reason, message, graceMs: 0 });
    } else if (row.status === 'started' && row.news !== null) {
      await beginRestart(tx, row, { prompt: row.news });
    } else if (row.status === 'started') {
      await beginEnding(tx, row, { status: 'terminated', status_reason: reason }, { force: false }, 0);
    } else {
      // While the work is under review or in a pull request, the agent does not have to run.
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
        await look(row).catch((error: unknown) => log.error('could not check instance', { instance: row.id, error }));
      }
    },
  };
}

function endReason(seen: SessionLook): string {
  return seen.state === 'ended' && seen.code !== null ? `its agent ended with code ${seen.code}` : 'its agent ended';
}
