import { sql } from 'kysely';
import { rowsOf } from '../../core/settings/index.ts';

/** Warnings that were resolved, with the verdicts on them, and verdicts on none. */
export const FORGOTTEN = [
  rowsOf(
    'overlap_warnings',
    (before) => sql`resolved_at < ${before}`,
    (db, workspace, ids) => db.deleteFrom('scope_verdicts').where('workspace_id', '=', workspace).where('warning_id', 'in', ids).execute(),
  ),
  rowsOf('scope_verdicts', (before) => sql`warning_id is null and created_at < ${before}`),
];
