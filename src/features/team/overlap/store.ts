import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, chunks, findRow, insertRows, matching, rowsById } from '../../../storage/rows.ts';
import type { OverlapItemRow, OverlapStateRow } from '../../../storage/schema-rows.ts';
import { type Analysed, backgroundShare } from './terms.ts';

export const findItem = (db: Db, workspace: string, id: string): Promise<OverlapItemRow | undefined> =>
  findRow(db, 'overlap_items', { workspace_id: workspace, id });

const CHUNK = 300;
const TERMS_AT_ONCE = 2_000;

export async function findItems(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, OverlapItemRow>> {
  const found = new Map<string, OverlapItemRow>();
  for (const some of chunks(ids, CHUNK)) {
    for (const [id, row] of await rowsById(db, 'overlap_items', workspace, some)) found.set(id, row);
  }
  return found;
}

export const readState = (db: Db, workspace: string): Promise<OverlapStateRow | undefined> => findRow(db, 'overlap_state', { workspace_id: workspace });

/**
 * Takes the next revision, or so many of them, and the numbers for so many new items; the last of each are told. Writers of a workspace
 * take turns, so none is taken twice. No two items may share a revision: whoever pages through them by it would miss one.
 */
export async function nextState(db: Db, workspace: string, newItems: number, gone = 0, revisions = 1): Promise<OverlapStateRow> {
  const rows = await db
    .insertInto('overlap_state')
    .values({ workspace_id: workspace, revision: revisions, items: newItems, next_number: 1 + newItems, settings: null })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet((eb) => ({
        revision: eb('overlap_state.revision', '+', revisions),
        items: eb('overlap_state.items', '+', newItems + gone),
        next_number: eb('overlap_state.next_number', '+', newItems),
      })),
    )
    .returningAll()
    .execute();
  return rows[0] as OverlapStateRow;
}

export async function saveSettings(db: Db, workspace: string, settings: string | null): Promise<void> {
  await db
    .insertInto('overlap_state')
    .values({ workspace_id: workspace, revision: 1, items: 0, next_number: 1, settings })
    .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet({ settings }))
    .execute();
}

/** What may change of an item: all but its ids. */
const CHANGING = [
  'kind',
  'owner_id',
  'title',
  'scope',
  'action',
  'component',
  'task_type',
  'status',
  'repo',
  'analysed',
  'prefix',
  'files',
  'revision',
  'updated_at',
  'closed_at',
] as const satisfies readonly (keyof OverlapItemRow)[];

export async function saveItems(db: Db, rows: readonly OverlapItemRow[]): Promise<void> {
  for (const some of chunks(rows, CHUNK)) {
    await db
      .insertInto('overlap_items')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'id']).doUpdateSet((eb) => Object.fromEntries(CHANGING.map((column) => [column, eb.ref(`excluded.${column}`)]))),
      )
      .execute();
  }
}

export const changeItem = (db: Db, workspace: string, id: string, values: Partial<OverlapItemRow>) =>
  changeRows(db, 'overlap_items', { workspace_id: workspace, id }, values);

/** Each gets a revision of its own: that of `after` and its number. */
export async function changeItems(db: Db, workspace: string, ids: readonly string[], values: Partial<OverlapItemRow>, after: number): Promise<void> {
  for (const some of chunks(ids, CHUNK)) {
    await db
      .updateTable('overlap_items')
      .set({ ...values, revision: sql`number + cast(${after} as bigint)` })
      .where('workspace_id', '=', workspace)
      .where('id', 'in', some)
      .execute();
  }
}

/** In how many items each term stands: each of them once per item, with 1 for one that comes and -1 for one that goes. */
export async function countTerms(db: Db, workspace: string, terms: Iterable<string>, by: 1 | -1): Promise<void> {
  const changes = new Map<string, number>();
  for (const term of terms) changes.set(term, (changes.get(term) ?? 0) + by);
  const rows = [...changes].map(([term, items]) => ({ workspace_id: workspace, term, items }));
  for (const chunk of chunks(rows, TERMS_AT_ONCE)) {
    await db
      .insertInto('overlap_terms')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'term']).doUpdateSet((eb) => ({ items: eb('overlap_terms.items', '+', eb.ref('excluded.items')) })),
      )
      .execute();
    if (by > 0) continue;
    const gone = chunk.map(({ term }) => term);
    await db.deleteFrom('overlap_terms').where('workspace_id', '=', workspace).where('term', 'in', gone).where('items', '<=', 0).execute();
  }
}

/** The postings only find candidates, which are then scored whole: the telling terms are enough, and keep the table small. */
const POSTED_TERMS = 24;
/** Saturation of repeated terms, as in BM25; the length of a task is left to the score. */
const SATURATION = 1.2;

export function postedTerms({ terms, counts, prefixTerms }: Analysed): { term: string; weight: number }[] {
  return terms
    .map((term, at) => ({ term, count: counts[at] as number }))
    .filter(({ term }) => !prefixTerms.includes(term) || terms.length <= POSTED_TERMS)
    .sort((one, other) => backgroundShare(one.term) - backgroundShare(other.term) || (one.term < other.term ? -1 : 1))
    .slice(0, POSTED_TERMS)
    .map(({ term, count }) => ({ term, weight: Math.round((100 * count) / (count + SATURATION)) }));
}

export async function insertPostings(db: Db, workspace: string, items: readonly { number: number; analysed: Analysed }[]): Promise<void> {
  const rows = items.flatMap(({ number, analysed }) =>
    postedTerms(analysed).map(({ term, weight }) => ({ workspace_id: workspace, term, item: number, weight })),
  );
  await insertRows(db, 'overlap_postings', rows);
}

export async function deletePostings(db: Db, workspace: string, item: number, analysed: Analysed): Promise<void> {
  // All of its terms: which of them were posted may have been chosen by an older version.
  const { terms } = analysed;
  if (terms.length === 0) return;
  await db.deleteFrom('overlap_postings').where('workspace_id', '=', workspace).where('term', 'in', terms).where('item', '=', item).execute();
}

export const itemsSince = (db: Db, workspace: string, revision: number, limit: number): Promise<OverlapItemRow[]> =>
  matching(db, 'overlap_items', { workspace_id: workspace }).selectAll().where('revision', '>', revision).orderBy('revision').limit(limit).execute();

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

/** What scoring needs of an item: a search reads hundreds and shows a few. */
const SCORABLE = ['id', 'kind', 'owner_id', 'closed_at', 'action', 'component', 'analysed', 'files'] as const;
export type Scorable = Pick<OverlapItemRow, (typeof SCORABLE)[number]>;

/** The items that share the most telling terms; of open work alone, where that is asked for. */
export async function mostShared(
  db: Db,
  workspace: string,
  terms: readonly { term: string; worth: number }[],
  limit: number,
  openOnly: boolean,
): Promise<Scorable[]> {
  if (terms.length === 0) return [];
  // A table of the terms with their worth: a `case` over them would compare every posting with every term.
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
    // SQLite takes the tables of a cross join in this order; as an inner join it would go through all items instead.
    .crossJoin('overlap_items')
    .where('overlap_items.workspace_id', '=', workspace)
    .whereRef('overlap_items.number', '=', 'chosen.item')
    .select(SCORABLE)
    .execute();
}

/** Items that name one of the files, newest first. */
export async function itemsWithFiles(db: Db, workspace: string, files: readonly string[], limit: number): Promise<string[]> {
  if (files.length === 0) return [];
  const rows = await db
    .selectFrom('file_marks')
    .select('source_id')
    .where('workspace_id', '=', workspace)
    .where('path', 'in', files)
    .where('source', '=', 'task')
    .orderBy('marked_at', 'desc')
    .limit(limit)
    .execute();
  return [...new Set(rows.map(({ source_id }) => source_id))];
}

/** What the JSON columns of the index hold. */

export const filesSchema = z.array(z.string());

export const analysedSchema = z.object({
  terms: z.array(z.string()),
  counts: z.array(z.number()),
  prefix: z.string().nullable(),
  prefixTerms: z.array(z.string()),
});

/** We wrote these columns, and read thousands of them at a time: checking each would cost more than everything else. */
export function trustedItem(row: Pick<OverlapItemRow, 'id' | 'analysed' | 'files'>): {
  id: string;
  analysed: z.output<typeof analysedSchema>;
  files: string[];
} {
  return { id: row.id, analysed: JSON.parse(row.analysed), files: JSON.parse(row.files) };
}

const VECTORS_AT_ONCE = 300;

/** The vectors of these items that were made by `model`. */
export async function readVectors(db: Db, workspace: string, ids: readonly string[], model: string): Promise<Map<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  for (const some of chunks(ids, VECTORS_AT_ONCE)) {
    const rows = await db
      .selectFrom('overlap_vectors')
      .select(['item_id', 'vector'])
      .where('workspace_id', '=', workspace)
      .where('model', '=', model)
      .where('item_id', 'in', some)
      .execute();
    for (const { item_id, vector } of rows) found.set(item_id, decodeVector(vector));
  }
  return found;
}

function decodeVector(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

export const encodeVector = (vector: Float32Array): string => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
