import { sql } from 'kysely';
import { rowsOf } from '../settings/index.ts';

/** An approved call that was not made yet still may be. */
export const FORGOTTEN = [
  rowsOf('approvals', (before) => sql`status in ('refused', 'lapsed', 'used') and coalesce(used_at, decided_at, deadline_at) < ${before}`),
];
