import { sql } from 'kysely';
import { rowsOf } from '../../core/settings/index.ts';

/** Sessions that have ended, with what was said in them. */
export const FORGOTTEN = [
  rowsOf(
    'agent_sessions',
    (before) => sql`ended_at < ${before}`,
    (db, workspace, ids) => db.deleteFrom('session_activity').where('workspace_id', '=', workspace).where('session_id', 'in', ids).execute(),
  ),
];
