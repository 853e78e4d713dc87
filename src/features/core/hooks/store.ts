import { z } from 'zod';
import type { Services } from '../../../kernel/call.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsAbout, toEvent } from '../../../storage/journal.ts';
import { compiledQuery, deleteEverywhere, readJson, saveRows } from '../../../storage/rows.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { DENIED_EDIT } from '../events/index.ts';

const runsWithSessions = compiledQuery(4, (db, workspace: string, actor: string, clientSession: string, since: number) =>
  db
    .selectFrom('client_runs as run')
    .leftJoin('agent_sessions as session', (join) =>
      join.onRef('session.workspace_id', '=', 'run.workspace_id').onRef('session.id', '=', 'run.session_id').on('session.ended_at', 'is', null),
    )
    .selectAll('run')
    .select('session.id as open_session')
    .where('run.workspace_id', '=', workspace)
    .where('run.actor', '=', actor)
    .where((eb) => eb.or([eb('run.client_session', '=', clientSession), eb.and([eb('run.ended_at', 'is', null), eb('run.last_seen_at', '>=', since)])])),
);

/**
 * This run in any state, and the runs of the same agent that have not ended and were seen after `since`. If the session of a run
 * has ended, the run is returned without a session.
 */
export async function runsOf(db: Db, workspace: string, actor: string, clientSession: string, since: number): Promise<ClientRunRow[]> {
  const rows = await runsWithSessions(db, workspace, actor, clientSession, since);
  return rows.map(({ open_session, ...run }) => ({ ...run, session_id: open_session }));
}

/** Returns the active runs of other agents in this session. */
export const runsOfOthersIn = compiledQuery(4, (db, workspace: string, sessionId: string, actor: string, since: number) =>
  db
    .selectFrom('client_runs')
    .select('client_session')
    .where('workspace_id', '=', workspace)
    .where('session_id', '=', sessionId)
    .where('actor', '!=', actor)
    .where('ended_at', 'is', null)
    .where('last_seen_at', '>=', since),
);

const KEY = ['workspace_id', 'actor', 'client_session'] as const;

export const saveRun = (tx: Tx, run: ClientRunRow) => saveRows(tx.db, 'client_runs', KEY, run);

const denials = z.record(z.string(), z.number());
export const denialsOf = (run: ClientRunRow): Record<string, number> => readJson(denials, run.denials);

export const denialKey = (claimId: string, path: string): string => `${claimId} ${path}`;

/** Returns the time of the caller's last denial that was journaled after `since`, for each claim and path. */
export async function deniedSince(db: Db, workspace: string, actor: string, claimIds: readonly string[], since: number): Promise<Record<string, number>> {
  const rows = await eventsAbout(db, workspace, claimIds)
    .selectAll('events')
    .where('events.kind', '=', DENIED_EDIT)
    .where('events.actor', '=', actor)
    .where('events.time', '>', since)
    .orderBy('events.seq')
    .execute();
  return Object.fromEntries(rows.map(toEvent).map(({ subject, payload, time }) => [denialKey(String(subject), String(payload.path)), time]));
}

const EVERY_MS = 3_600_000;
/** The time after which a run is deleted. A run that was silent for a week does not continue. */
export const RUNS_KEPT_MS = 7 * 24 * 3_600_000;

export function createStaleRunSweep({ store, clock }: Pick<Services, 'store' | 'clock'>): Sweep {
  return {
    name: 'hooks',
    everyMs: EVERY_MS,
    async run() {
      await deleteEverywhere(store, 'client_runs', { last_seen_at: { '<': clock.now() - RUNS_KEPT_MS } });
    },
  };
}
