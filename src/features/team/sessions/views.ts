import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AgentSessionRow } from '../../../storage/schema-rows.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import type { SessionView } from './contract.ts';
import { STALE_AFTER_MS, sessionState } from './liveness.ts';
import { lastActivities, sessionsSeenLast, sessionsSilentSince } from './store.ts';

/** Sessions of any state, the one heard of last first. */
export async function recentSessions(db: Db, workspace: string, viewer: Principal | null, now: number, limit: number): Promise<SessionView[]> {
  return await shown(db, workspace, viewer, now, await sessionsSeenLast(db, workspace, limit));
}

/** Open sessions that were not heard of for more than `STALE_AFTER_MS`, the longest silent first. */
export async function staleSessions(db: Db, workspace: string, viewer: Principal | null, now: number, limit: number): Promise<SessionView[]> {
  return await shown(db, workspace, viewer, now, await sessionsSilentSince(db, workspace, now - STALE_AFTER_MS, limit));
}

async function shown(db: Db, workspace: string, viewer: Principal | null, now: number, rows: readonly AgentSessionRow[]): Promise<SessionView[]> {
  const name = await namesFor(db, workspace, viewer);
  const activities = await lastActivities(
    db,
    workspace,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const developer = name(row.developer_id);
    return {
      session_id: row.id,
      developer,
      agent_type: row.agent_type,
      // A name that somebody gave to their agent, or to a branch, may well be their own.
      agent_name: developer === PRIVATE ? null : row.agent_name,
      provider: row.provider,
      model: row.model,
      repo: row.repo,
      branch: developer === PRIVATE ? null : row.branch,
      state: sessionState(row, now),
      started_at: row.started_at,
      last_seen_at: row.last_seen_at,
      ended_at: row.ended_at,
      last_activity: activities.get(row.id) ?? null,
    };
  });
}
