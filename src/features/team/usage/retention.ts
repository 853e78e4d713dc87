import { sql } from 'kysely';
import { rowsOf } from '../../core/settings/index.ts';

export const FORGOTTEN = [rowsOf('agent_spans', (before) => sql`ingested_at < ${before}`)];
