import { sql } from 'kysely';
import { rowsOf } from '../../core/settings/index.ts';

/** All but the latest, which tells of conflicts that may stand. */
export const FORGOTTEN = [
  rowsOf(
    'parallel_audits',
    (before) =>
      sql`created_at < ${before} and exists (select 1 from parallel_audits as later where later.workspace_id = parallel_audits.workspace_id and later.id > parallel_audits.id)`,
  ),
];
