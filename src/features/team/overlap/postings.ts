import { sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { chunks, findRows } from '../../../storage/rows.ts';
import type { OverlapItemRow } from '../../../storage/schema-rows.ts';
import { TERMS_AT_ONCE } from './store.ts';

export async function termFrequencies(db: Db, workspace: string, terms: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const some of chunks(terms, TERMS_AT_ONCE)) {
    const rows = await db.selectFrom('overlap_terms').select(['term', 'items']).where('workspace_id', '=', workspace).where('term', 'in', some).execute();
    for (const { term, items } of rows) found.set(term, items);
  }
  return found;
}

export async function prefixFrequencies(db: Db, workspace: string, prefixes: readonly string[]): Promise<Map<string, number>> {
  if (prefixes.length === 0) return new Map();
  const rows = await db
    .selectFrom('overlap_items')
    .select(['prefix', (eb) => eb.fn.countAll<number>().as('items')])
    .where('workspace_id', '=', workspace)
    .where('prefix', 'in', prefixes)
    .groupBy('prefix')
    .execute();
  return new Map(rows.map(({ prefix, items }) => [String(prefix), Number(items)]));
}

/** The columns that scoring needs. Other columns are not read, because a search scores hundreds of items and shows only a few. */
const SCORABLE = ['id', 'kind', 'owner_id', 'closed_at', 'action', 'component', 'analysed', 'files'] as const;
export type Scorable = Pick<OverlapItemRow, (typeof SCORABLE)[number]>;

/** Finds the items that share the most informative terms with a query. With `openOnly`, only open work is returned. */
export async function mostShared(
  db: Db,
  workspace: string,
  terms: readonly { term: string; worth: number }[],
  limit: number,
  openOnly: boolean,
): Promise<Scorable[]> {
  if (terms.length === 0) return [];
  // The terms and their weights form a table to join with. A `case` expression would compare every posting with every term.
  const wanted = sql<{ term: string; worth: number }>`(${sql.join(
    terms.map(({ term, worth }) => sql`select cast(${term} as text) as term, ${sql.lit(Math.round(worth * 100))} as worth`),
    sql` union all `,
  )})`.as<'wanted'>(sql`wanted`);
  let best = db
    .selectFrom(wanted)
    .crossJoin('overlap_postings')
    .select('overlap_postings.item')
    .where('overlap_postings.workspace_id', '=', workspace)
    .whereRef('overlap_postings.term', '=', 'wanted.term');
  if (openOnly) {
    best = best.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('overlap_items')
          .select('overlap_items.id')
          .where('overlap_items.workspace_id', '=', workspace)
          .whereRef('overlap_items.number', '=', 'overlap_postings.item')
          .where('overlap_items.closed_at', 'is', null),
      ),
    );
  }
  const chosen = best.groupBy('overlap_postings.item').orderBy(sql`sum(weight * worth)`, 'desc').orderBy('overlap_postings.item', 'desc').limit(limit);
  return await db
    .selectFrom(chosen.as('chosen'))
    // SQLite keeps the order of the tables in a cross join. With an inner join, it would scan all items.
    .crossJoin('overlap_items')
    .where('overlap_items.workspace_id', '=', workspace)
    .whereRef('overlap_items.number', '=', 'chosen.item')
    .select(SCORABLE)
    .execute();
}

/** Ids of tasks that touch at least one of the files, newest first. */
export async function itemsWithFiles(db: Db, workspace: string, files: readonly string[], limit: number): Promise<string[]> {
  const rows = await findRows(db, 'file_marks', { workspace_id: workspace, path: files, source: 'task' }, { order: { marked_at: 'desc' }, limit });
  return [...new Set(rows.map(({ source_id }) => source_id))];
}
