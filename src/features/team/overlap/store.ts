import { sql } from 'kysely';
import type { Principal } from '../../../kernel/call.ts';
import { mayBeSameRepo } from '../../../kernel/repo.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, chunks, deleteRows, findRow, insertRows, matching, readJson, rowsById } from '../../../storage/rows.ts';
import type { FileMarkRow, OverlapItemRow, OverlapStateRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { type FileConflict, type FileSource, type ItemKind, type ItemStatus, type OwnSettings, ownSettings } from './contract.ts';
import type { Action } from './divergence.ts';
import { DEFAULT_SETTINGS, type OverlapSettings } from './settings.ts';
import { type Analysed, analyse, embeddedText, postedTerms, scopeOf } from './terms.ts';

export interface WorkWords {
  readonly title: string;
  readonly scope: string | null;
  readonly description: string | null;
  readonly action: Action | null;
  readonly component: string | null;
  readonly taskType: string | null;
  readonly files: readonly string[];
  readonly repo: string | null;
}

/** A piece of work in the form in which features pass it to the index. */
export interface WorkItem extends WorkWords {
  readonly id: string;
  readonly kind: ItemKind;
  readonly ownerId: string;
  readonly status: ItemStatus;
  readonly closedAt: number | null;
}

export async function indexItem(tx: Tx, item: WorkItem): Promise<void> {
  await indexItems(tx, [item]);
}

/** Adds or updates the items. The list must not contain the same id twice. */
export async function indexItems(tx: Tx, items: readonly WorkItem[]): Promise<void> {
  if (items.length === 0) return;
  const ids = items.map(({ id }) => id);
  const known = await findItems(tx.db, tx.workspace, ids);
  const state = await nextState(tx.db, tx.workspace, { added: items.length - known.size, revisions: items.length });
  let number = state.next_number - (items.length - known.size);
  let revision = state.revision - items.length;
  const entries = items.map((item) => {
    const analysed = analyse(item);
    const before = known.get(item.id);
    revision += 1;
    return { before, analysed, row: itemRow(tx, item, analysed, before?.number ?? number++, revision) };
  });
  for (const some of chunks([...known.keys()], CHUNK)) await deleteRows(tx.db, 'overlap_items', { workspace_id: tx.workspace, id: some });
  const rows = entries.map(({ row }) => row);
  await insertRows(tx.db, 'overlap_items', rows);
  for (const { before, row } of entries) {
    if (before && embeddedText(before) !== embeddedText(row)) await deleteRows(tx.db, 'overlap_vectors', { workspace_id: tx.workspace, item_id: row.id });
  }
  const reworded = entries.filter(({ before, row }) => before?.analysed !== row.analysed);
  for (const { before } of reworded) if (before) await dropTerms(tx.db, before);
  const added = reworded.flatMap(({ analysed }) => analysed.terms);
  await countTerms(tx.db, tx.workspace, added, 1);
  const postings = reworded.flatMap(({ row, analysed }) =>
    postedTerms(analysed).map((posted) => ({ workspace_id: tx.workspace, item: row.number, ...posted })),
  );
  await insertRows(tx.db, 'overlap_postings', postings);
}

const itemRow = (tx: Tx, item: WorkItem, analysed: Analysed, number: number, revision: number): OverlapItemRow => ({
  workspace_id: tx.workspace,
  id: item.id,
  number,
  kind: item.kind,
  owner_id: item.ownerId,
  title: item.title,
  scope: scopeOf(item),
  action: item.action,
  component: item.component,
  task_type: item.taskType,
  status: item.status,
  repo: item.repo,
  analysed: JSON.stringify(analysed),
  prefix: analysed.prefix,
  files: JSON.stringify(item.files),
  revision,
  updated_at: tx.now,
  closed_at: item.closedAt,
});

export async function setItemStatus(tx: Tx, id: string, status: ItemStatus, closedAt: number | null = null): Promise<void> {
  await change(tx, id, { status, closed_at: closedAt });
}

/** Like `setItemStatus`, for many items. Unknown ids are ignored. */
export async function setItemsStatus(tx: Tx, ids: readonly string[], status: ItemStatus, closedAt: number | null = null): Promise<void> {
  const before = await readState(tx.db, tx.workspace);
  if (!before || ids.length === 0) return;
  // Each item has a unique number below `next_number`. Old revision + number is therefore a unique new revision for each item.
  await nextState(tx.db, tx.workspace, { revisions: before.next_number });
  for (const some of chunks(ids, CHUNK)) {
    await tx.db
      .updateTable('overlap_items')
      .set({ status, closed_at: closedAt, updated_at: tx.now, revision: sql`number + cast(${before.revision} as bigint)` })
      .where('workspace_id', '=', tx.workspace)
      .where('id', 'in', some)
      .execute();
  }
}

export async function setItemOwner(tx: Tx, id: string, ownerId: string): Promise<void> {
  await change(tx, id, { owner_id: ownerId });
}

/** Adds files that the work touches. An item stores at most `MAX_FILES` files. */
export async function addItemFiles(tx: Tx, id: string, files: readonly string[]): Promise<void> {
  const known = await findItem(tx.db, tx.workspace, id);
  if (!known) return;
  const before = trustedItem(known).files;
  const after = [...new Set([...before, ...files])].slice(0, MAX_FILES);
  if (after.length > before.length) await change(tx, id, { files: JSON.stringify(after) });
}

const MAX_FILES = 100;

async function change(tx: Tx, id: string, values: Partial<OverlapItemRow>): Promise<void> {
  const { revision } = await nextState(tx.db, tx.workspace);
  await changeRows(tx.db, 'overlap_items', { workspace_id: tx.workspace, id }, { ...values, revision, updated_at: tx.now });
}

/** Removes work that ended before `closedBefore`. Returns the number of removed items. */
export async function forgetItems(tx: Tx, closedBefore: number, limit: number): Promise<number> {
  const rows = await matching(tx.db, 'overlap_items', { workspace_id: tx.workspace }).selectAll().where('closed_at', '<', closedBefore).limit(limit).execute();
  for (const row of rows) await dropTerms(tx.db, row);
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await deleteRows(tx.db, 'overlap_items', { workspace_id: tx.workspace, id: ids });
  await deleteRows(tx.db, 'overlap_vectors', { workspace_id: tx.workspace, item_id: ids });
  await nextState(tx.db, tx.workspace, { removed: rows.length });
  return rows.length;
}

async function dropTerms(db: Db, row: OverlapItemRow): Promise<void> {
  const { terms } = trustedItem(row).analysed;
  await countTerms(db, row.workspace_id, terms, -1);
  // Deletes the postings of all terms, not only of those that would be posted today, because an older version may have posted others.
  await deleteRows(db, 'overlap_postings', { workspace_id: row.workspace_id, term: terms, item: row.number });
}

export const findItem = (db: Db, workspace: string, id: string): Promise<OverlapItemRow | undefined> =>
  findRow(db, 'overlap_items', { workspace_id: workspace, id });

const CHUNK = 300;
export const TERMS_AT_ONCE = 2_000;

export async function findItems(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, OverlapItemRow>> {
  const found = new Map<string, OverlapItemRow>();
  for (const some of chunks(ids, CHUNK)) {
    for (const [id, row] of await rowsById(db, 'overlap_items', workspace, some)) found.set(id, row);
  }
  return found;
}

export const readState = (db: Db, workspace: string): Promise<OverlapStateRow | undefined> => findRow(db, 'overlap_state', { workspace_id: workspace });

/** Caches parsed settings by their text. The same text must yield the same object, because the index in memory compares settings by identity. */
const parsedSettings = new Map<string, OverlapSettings>();
const MAX_PARSED = 1_000;

/** The settings of a workspace: the default values, except for those that the workspace has changed. */
export function settingsOf(state: OverlapStateRow | undefined): OverlapSettings {
  const text = state?.settings;
  if (!text) return DEFAULT_SETTINGS;
  const known = parsedSettings.get(text);
  if (known) return known;
  if (parsedSettings.size >= MAX_PARSED) parsedSettings.clear();
  const settings = withOwn(readJson(ownSettings, text));
  parsedSettings.set(text, settings);
  return settings;
}

function withOwn(own: OwnSettings): OverlapSettings {
  const { warn, escalate, weights, embeddingEvidence, embeddingFloor } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    warn: own.warn ?? warn,
    escalate: own.escalate ?? escalate,
    weights: {
      text: own.text_weight ?? weights.text,
      files: own.file_weight ?? weights.files,
      embedding: own.meaning_weight ?? weights.embedding,
    },
    embeddingEvidence: own.meaning_evidence ?? embeddingEvidence,
    embeddingFloor: own.meaning_floor ?? embeddingFloor,
  };
}

/**
 * Reserves revisions and, for added items, numbers. The returned row contains the state after the reservation. Nothing is reserved twice,
 * because only one writer of a workspace runs at a time. Revisions must be unique: a reader that pages by revision would otherwise miss one of
 * two items with the same revision.
 */
export async function nextState(db: Db, workspace: string, { added = 0, removed = 0, revisions = 1 } = {}): Promise<OverlapStateRow> {
  const rows = await db
    .insertInto('overlap_state')
    .values({ workspace_id: workspace, revision: revisions, items: added, next_number: 1 + added, settings: null })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet((eb) => ({
        revision: eb('overlap_state.revision', '+', revisions),
        items: eb('overlap_state.items', '+', added - removed),
        next_number: eb('overlap_state.next_number', '+', added),
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

/** Updates how many items contain each term. `by` is 1 if an item was added, and -1 if an item was removed. */
async function countTerms(db: Db, workspace: string, terms: Iterable<string>, by: 1 | -1): Promise<void> {
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

/**
 * Parses two columns without validation, which would take most of the time of a search over thousands of rows. Only Covenant writes these columns.
 */
export function trustedItem({ id, analysed, files }: Pick<OverlapItemRow, 'id' | 'analysed' | 'files'>): { id: string; analysed: Analysed; files: string[] } {
  return { id, analysed: JSON.parse(analysed), files: JSON.parse(files) };
}

/** The work, snapshot or claim to which a list of files belongs, and how long the list is valid. */
interface FileHolder {
  readonly source: FileSource;
  readonly sourceId: string;
  readonly developerId: string;
  readonly repo: string | null;
  readonly action: string | null;
  readonly label: string | null;
  /** Null if the marks stay until they are removed. */
  readonly expiresAt: number | null;
}

/** Marks these files as in use by the holder, and removes the holder's earlier marks. */
export async function markFiles(tx: Tx, holder: FileHolder, files: readonly string[]): Promise<void> {
  await unmarkFiles(tx, holder.source, holder.sourceId);
  const rows = [...new Set(files)].map(
    (path): FileMarkRow => ({
      workspace_id: tx.workspace,
      path,
      source: holder.source,
      source_id: holder.sourceId,
      developer_id: holder.developerId,
      repo: holder.repo,
      action: holder.action,
      label: holder.label,
      marked_at: tx.now,
      expires_at: holder.expiresAt,
    }),
  );
  await insertRows(tx.db, 'file_marks', rows);
}

/** Sets a new expiry time for the file marks of these sources. */
export const keepMarked = (tx: Tx, source: FileSource, sourceIds: readonly string[], expiresAt: number) =>
  changeRows(tx.db, 'file_marks', { workspace_id: tx.workspace, source, source_id: sourceIds }, { expires_at: expiresAt });

export const unmarkFiles = (tx: Tx, source: FileSource, sourceId: string) =>
  deleteRows(tx.db, 'file_marks', { workspace_id: tx.workspace, source, source_id: sourceId });

interface FileQuestion {
  readonly files: readonly string[];
  /** Null if unknown. In that case, files of all repositories are compared. */
  readonly repo: string | null;
  readonly viewer: Principal;
  readonly now: number;
  /** Ids of sources to leave out, because they are the caller's own work. */
  readonly except?: readonly string[];
}

const MAX_CONFLICTS = 50;
const FILES_AT_ONCE = 50;

/** Finds those of the files that others are working on. The result only informs; it blocks nothing. */
export async function fileConflicts(db: Db, workspace: string, question: FileQuestion): Promise<FileConflict[]> {
  if (question.files.length === 0) return [];
  const rows: FileMarkRow[] = [];
  for (const some of chunks(question.files, FILES_AT_ONCE)) {
    rows.push(
      ...(await db
        .selectFrom('file_marks')
        .selectAll()
        .where('workspace_id', '=', workspace)
        .where('path', 'in', some)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', question.now)]))
        .orderBy('marked_at', 'desc')
        .limit(1_000)
        .execute()),
    );
  }
  const relevant = rows.filter((row) => !question.except?.includes(row.source_id) && sameRepo(row.repo, question.repo));
  if (relevant.length === 0) return [];
  const { name, sees } = await viewerOf(db, question.viewer);
  return [...Map.groupBy(relevant, (row) => `${row.source} ${row.source_id}`).values()].slice(0, MAX_CONFLICTS).map((marks) => {
    const [first] = marks as [FileMarkRow];
    return {
      source: first.source,
      source_id: first.source_id,
      owner: name(first.developer_id),
      same_developer: first.developer_id === question.viewer.developerId,
      files: marks.map(({ path }) => path).sort(),
      action: first.action,
      // The label of a working tree is the name of its branch, which often contains the name of the developer.
      title: first.source === 'snapshot' && !sees(first.developer_id) ? null : first.label,
      repo: first.repo,
    };
  });
}

const sameRepo = (a: string | null, b: string | null): boolean => a === null || b === null || mayBeSameRepo(a, b);
