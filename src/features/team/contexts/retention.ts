import { sql } from 'kysely';
import { rowsOf } from '../../core/settings/index.ts';

/** One that was superseded or revoked runs out with the others. */
export const FORGOTTEN = [rowsOf('session_contexts', (before) => sql`expires_at < ${before}`)];
