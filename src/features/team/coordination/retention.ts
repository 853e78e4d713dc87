import { sql } from 'kysely';
import { rowsOf } from '../../core/settings/index.ts';

/** What nobody holds, waits for or is offered any more. An answer that its asker has not got is still waited for. */
export const FORGOTTEN = [
  rowsOf('claims', (before) => sql`coalesce(released_at, expires_at) < ${before}`),
  rowsOf('asks', (before) => sql`answered_at < ${before} and answer_delivered_at is not null`),
  rowsOf('announcements', (before) => sql`created_at < ${before}`),
  rowsOf('handoffs', (before) => sql`accepted_at < ${before}`),
];
