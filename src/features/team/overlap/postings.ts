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

/** Only the columns that scoring needs, because a search reads hundreds of items and shows a few. */
const SCORABLE = ['id', 'kind', 'owner_id', 'closed_at', 'action', 'component', 'analysed', 'files'] as const;
export type Scorable = Pick<OverlapItemRow, (typeof SCORABLE)[number]>;

/** The items that share the most informative terms; with `openOnly`, only open work. */
export async function mostShared(
  db: Db,
  workspace: string,
  terms: readonly { term: string; worth: number }[],
  limit: number,
  openOnly: boolean,
): Promise<Scorable[]> {
  if (terms.length === 0) return [];
  // The terms as a table, each with its weight. A `case` expression would compare every posting with every term.
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
    // SQLite joins the tables of a cross join in this order. With an inner join it would scan all items.
    .crossJoin('overlap_items')
    .where('overlap_items.workspace_id', '=', workspace)
    .whereRef('overlap_items.number', '=', 'chosen.item')
    .select(SCORABLE)
    .execute();
}

/** Items that name one of the files, newest first. */
export async function itemsWithFiles(db: Db, workspace: string, files: readonly string[], limit: number): Promise<string[]> {
  const rows = await findRows(db, 'file_marks', { workspace_id: workspace, path: files, source: 'task' }, { order: { marked_at: 'desc' }, limit });
  return [...new Set(rows.map(({ source_id }) => source_id))];
}
