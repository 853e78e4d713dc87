import { sql } from 'kysely';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import type { firstSteps } from './contract.ts';

/** How far a new team is. Each is one look at an index. */
export async function readFirstSteps(db: Db, workspace: string): Promise<Output<typeof firstSteps>> {
  const tokens = db.selectFrom('tokens').select('id').where('workspace_id', '=', workspace).where('kind', '=', 'agent').limit(1);
  const warning = await db
    .selectFrom('overlap_warnings')
    .select('id')
    .where('workspace_id', '=', workspace)
    .where('level', '=', sql.lit('escalated'))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  const finished = db.selectFrom('tasks').select('id').where('workspace_id', '=', workspace).where('status', '=', 'completed').limit(1);
  return {
    connected: (await tokens.executeTakeFirst()) !== undefined,
    called: (await tokens.where('last_used_at', 'is not', null).executeTakeFirst()) !== undefined,
    warning_id: warning?.id ?? null,
    finished: (await finished.executeTakeFirst()) !== undefined,
  };
}
