import type { Db } from '../../../storage/engine.ts';
import { changeRows, deleteRows, findRow, findRows, insertRows, matching, view } from '../../../storage/rows.ts';
import type { AgentSessionRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Viewer } from '../../core/identity/index.ts';
import { type SessionView, STALE_AFTER_MS, sessionState, sessionView } from './contract.ts';

export const findSession = (db: Db, workspace: string, id: string): Promise<AgentSessionRow | undefined> =>
  findRow(db, 'agent_sessions', { workspace_id: workspace, id });

/** The type of agent that runs the session. It labels, for example, the telemetry of the session. */
export async function agentTypeOf(db: Db, workspace: string, id: string): Promise<string | null> {
  return (await findSession(db, workspace, id))?.agent_type ?? null;
}

/** Records that the session is alive. A session that has ended is not changed. */
export async function touchActiveSession(tx: Tx, sessionId: string): Promise<void> {
  await changeActiveSession(tx, sessionId, { last_seen_at: tx.now });
}

export async function changeActiveSession(
  tx: Tx,
  sessionId: string,
  change: Partial<Pick<AgentSessionRow, 'last_seen_at' | 'ended_at' | 'repo' | 'branch'>>,
): Promise<void> {
  await changeRows(tx.db, 'agent_sessions', { workspace_id: tx.workspace, id: sessionId, ended_at: null }, change);
}

/** Returns those of the sessions that are active, which means neither ended nor stale. */
export async function activeSessions(db: Db, workspace: string, ids: readonly string[], now: number): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const open = matching(db, 'agent_sessions', { workspace_id: workspace, id: [...new Set(ids)], ended_at: null });
  const rows = await open
    .select('id')
    .where('last_seen_at', '>=', now - STALE_AFTER_MS)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The repository that the session reported at its start or, if it has sent a snapshot since, in its last snapshot. */
export async function repoOfSession(db: Db, workspace: string, sessionId: string): Promise<string | null> {
  return (await findSession(db, workspace, sessionId))?.repo ?? null;
}

export async function insertActivity(tx: Tx, sessionId: string, id: string, text: string, keep: number): Promise<void> {
  const ofSession = { workspace_id: tx.workspace, session_id: sessionId };
  await insertRows(tx.db, 'session_activity', { ...ofSession, id, text, created_at: tx.now });
  const oldest = await matching(tx.db, 'session_activity', ofSession).select('id').orderBy('id', 'desc').offset(keep).limit(1).executeTakeFirst();
  if (oldest) await deleteRows(tx.db, 'session_activity', { ...ofSession, id: { '<=': oldest.id } });
}

/** The newest activity line of each session. Sessions without activity are missing. */
export async function lastActivities(db: Db, workspace: string, sessionIds: readonly string[]): Promise<Map<string, string>> {
  if (sessionIds.length === 0) return new Map();
  const newest = db
    .selectFrom('session_activity')
    .select(({ fn }) => ['session_id', fn.max('id').as('id')])
    .where('workspace_id', '=', workspace)
    .where('session_id', 'in', sessionIds)
    .groupBy('session_id');
  const rows = await db
    .selectFrom(newest.as('newest'))
    // The cross join keeps this order of tables. Otherwise SQLite would first read the lines of all sessions.
    .crossJoin('session_activity as line')
    .select(['line.session_id', 'line.text'])
    .where('line.workspace_id', '=', workspace)
    .whereRef('line.session_id', '=', 'newest.session_id')
    .whereRef('line.id', '=', 'newest.id')
    .execute();
  return new Map(rows.map(({ session_id, text }) => [session_id, text]));
}

/** Sessions in any state, most recently seen first. */
export async function recentSessions(db: Db, workspace: string, viewer: Viewer, now: number, limit: number): Promise<SessionView[]> {
  return await viewSessions(
    db,
    workspace,
    viewer,
    now,
    await findRows(db, 'agent_sessions', { workspace_id: workspace }, { order: { last_seen_at: 'desc', id: 'desc' }, limit }),
  );
}

/** Sessions that have not ended but were silent for more than `STALE_AFTER_MS`. The one with the longest silence comes first. */
export async function staleSessions(db: Db, workspace: string, viewer: Viewer, now: number, limit: number): Promise<SessionView[]> {
  const silent = matching(db, 'agent_sessions', { workspace_id: workspace, ended_at: null }).where('last_seen_at', '<', now - STALE_AFTER_MS);
  return await viewSessions(db, workspace, viewer, now, await silent.selectAll().orderBy('last_seen_at').orderBy('id').limit(limit).execute());
}

async function viewSessions(db: Db, workspace: string, viewer: Viewer, now: number, rows: readonly AgentSessionRow[]): Promise<SessionView[]> {
  const ids = rows.map(({ id }) => id);
  const activities = await lastActivities(db, workspace, ids);
  return rows.map((row) => {
    const isSeen = viewer.sees(row.developer_id);
    return view(sessionView, row, {
      session_id: row.id,
      developer: viewer.name(row.developer_id),
      // The names of agents and branches may contain the name of the developer, so they are hidden for private developers.
      agent_name: isSeen ? row.agent_name : null,
      branch: isSeen ? row.branch : null,
      state: sessionState(row, now),
      last_activity: activities.get(row.id) ?? null,
    });
  });
}
