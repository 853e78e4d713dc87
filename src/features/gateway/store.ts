import type { Db } from '../../storage/engine.ts';
import { firstSeqSince } from '../../storage/journal.ts';

/** Calls of each tool since `since`, from the journal: it is the only count there is. */
export async function callsSince(db: Db, workspace: string, since: number): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('events')
    .select(['subject', (eb) => eb.fn.countAll<number>().as('calls')])
    .where('workspace_id', '=', workspace)
    .where('category', '=', 'usage')
    .where('seq', '>=', await firstSeqSince(db, workspace, since))
    .where('subject', 'is not', null)
    .groupBy('subject')
    .execute();
  return new Map(rows.map((row) => [String(row.subject), Number(row.calls)]));
}
