import { z } from 'zod';
import { readJson } from '../../storage/columns.ts';
import { compiledQuery } from '../../storage/compiled.ts';
import type { Tx } from '../../storage/write.ts';
import type { ClientRunRow } from './tables.ts';

/** This run, whatever became of it, and the runs of the same agent that are at work: not ended, and heard of since then. */
export const runsOf = compiledQuery(4, (db, workspace: string, actor: string, clientSession: string, since: number) =>
  db
    .selectFrom('client_runs')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('actor', '=', actor)
    .where((eb) => eb.or([eb('client_session', '=', clientSession), eb.and([eb('ended_at', 'is', null), eb('last_seen_at', '>=', since)])])),
);

/** Runs of other agents that are at work in this session. */
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

export async function saveRun(tx: Tx, run: ClientRunRow): Promise<void> {
  const { workspace_id: _, actor: __, client_session: ___, ...change } = run;
  await tx.db
    .insertInto('client_runs')
    .values(run)
    .onConflict((conflict) => conflict.columns(KEY).doUpdateSet(change))
    .execute();
}

const denials = z.record(z.string(), z.number());
export const denialsOf = (run: ClientRunRow): Record<string, number> => readJson(denials, run.denials);
