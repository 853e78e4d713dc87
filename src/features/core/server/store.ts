import type { Db } from '../../../storage/engine.ts';
import { firstSeqSince } from '../../../storage/journal.ts';

export async function countRows(db: Db, workspace: string, table: 'developers' | 'tokens'): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace)
    .executeTakeFirstOrThrow();
  return Number(row.n);
}

export async function lastEventTime(db: Db, workspace: string): Promise<number | null> {
  const row = await db.selectFrom('events').select('time').where('workspace_id', '=', workspace).orderBy('seq', 'desc').limit(1).executeTakeFirst();
  return row?.time ?? null;
}

/** Denied checks and refused calls: what an operator wants to know of before anybody complains. */
export async function refusalsSince(db: Db, workspace: string, since: number): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace)
    .where('category', '=', 'usage')
    .where('seq', '>=', await firstSeqSince(db, workspace, since))
    .where((eb) =>
      eb.or([eb('payload', 'like', '%"outcome":"denied"%'), eb('payload', 'like', '%"outcome":"error"%'), eb('payload', 'like', '%"outcome":"blocked"%')]),
    )
    .executeTakeFirstOrThrow();
  return Number(row.n);
}
