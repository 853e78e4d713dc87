import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Db } from '../../../storage/engine.ts';
import { matching } from '../../../storage/rows.ts';
import type { OverlapItemRow, OverlapStateRow } from '../../../storage/schema-rows.ts';
import { MemoryIndex } from './memory-index.ts';
import { itemsWithFiles, mostShared, prefixFrequencies, type Scorable, termFrequencies } from './postings.ts';
import { inverseFrequency, type Query, type Scored, type Statistics, scorePair, scoreWeighed, weigh } from './score.ts';
import type { OverlapSettings } from './settings.ts';
import { findItems, readState, trustedItem } from './store.ts';
import { type Analysed, backgroundShare, postedTerms } from './terms.ts';
import { readVectors } from './vectors.ts';

/** A workspace with at most this many items is searched in memory. In a larger one, the postings in the store select the items to score. */
const IN_PROCESS = 10_000;
const PAGE = 250;
const MAX_SHARED = 300;
const SAME_FILES = 100;
/** The maximum number of postings that one search reads. A search starts with the rarest terms and always reads at least one term. */
const POSTINGS_READ = 5_000;
const KNOWN_FREQUENCIES = 50_000;
/** After this many changes in the workspace, the cached frequencies are read again. */
const FREQUENCIES_LAST = 1_000;
/** The maximum number of items in memory; an item takes about 6 KB. Above it, the least recently used workspaces are dropped and later read again. */
const KEPT_ITEMS = 50_000;

/** The columns that decide, before an item is scored, whether it is compared at all. */
export type Meta = Pick<OverlapItemRow, 'kind' | 'owner_id' | 'closed_at' | 'action' | 'component'>;

export interface FinderOptions {
  readonly settings: OverlapSettings;
  readonly limit: number;
  /** Items with a lower score are not returned. */
  readonly atLeast: number;
  accept(id: string, meta: Meta): boolean;
  /** True if `accept` accepts only open work. The search can then skip finished work. */
  readonly openOnly?: boolean | undefined;
}

interface FinderSetup {
  /** The embedding model in use, or null. */
  readonly model?: string | null;
  readonly inProcess?: number;
  readonly keptItems?: number;
}

interface KeptIndex {
  readonly index: MemoryIndex;
  readonly meta: Map<string, Meta>;
  revision: number;
}

interface Frequencies {
  readonly revision: number;
  readonly known: Map<string, number>;
}

/** Finds the work that is most similar to a query. The index in memory is only a cache: it can be rebuilt from the store at any time. */
export class Finder {
  readonly #reader: Db;
  readonly #model: string | null;
  readonly #inProcess: number;
  readonly #keptItems: number;
  /** The index of each workspace in memory. The least recently used workspace comes first. */
  readonly #kept = new Map<string, KeptIndex>();
  readonly #refreshing = new Map<string, Promise<KeptIndex>>();
  readonly #frequencies = new Map<string, Frequencies>();

  constructor(reader: Db, { model = null, inProcess = IN_PROCESS, keptItems = KEPT_ITEMS }: FinderSetup = {}) {
    this.#reader = reader;
    this.#model = model;
    this.#inProcess = inProcess;
    this.#keptItems = keptItems;
  }

  /** The number of items in memory. */
  get kept(): number {
    let items = 0;
    for (const { index } of this.#kept.values()) items += index.documents;
    return items;
  }

  /** Loads new items into memory. A search inside a write transaction then has few items left to read. */
  async prepare(workspace: string): Promise<void> {
    const state = await readState(this.#reader, workspace);
    if (state && state.items <= this.#inProcess) await this.#refreshed(workspace);
    else this.#kept.delete(workspace);
  }

  /** If `db` is a running transaction, the search also finds the items that the transaction has written. `state` must be read from the same `db`. */
  async search(db: Db, state: OverlapStateRow, query: Query, options: FinderOptions): Promise<Scored[]> {
    const found =
      state.items <= this.#inProcess ? await this.#inMemory(db, state.workspace_id, query, options) : await this.#inStore(db, state, query, options);
    return found
      .filter(({ score }) => score > 0 && score >= options.atLeast)
      .sort((one, other) => other.score - one.score || (one.id < other.id ? 1 : -1))
      .slice(0, options.limit);
  }

  async #inMemory(db: Db, workspace: string, query: Query, { settings, limit, atLeast, accept }: FinderOptions): Promise<Scored[]> {
    const { index, meta, revision } = this.#kept.get(workspace) ?? (await this.#refreshed(workspace));
    const fresh = await itemsSince(db, workspace, revision, this.#inProcess);
    const overtaken = new Set(fresh.map(({ id }) => id));
    const known = index.search(query, settings, { limit, atLeast, accept: (id) => !overtaken.has(id) && accept(id, meta.get(id) as Meta) });
    const vectors = await this.#vectors(db, workspace, fresh);
    const added = fresh
      .filter((row) => accept(row.id, row))
      .map((row) => scorePair(query, { ...trustedItem(row), vector: vectors.get(row.id) }, index, settings));
    return [...known, ...added];
  }

  async #inStore(db: Db, state: OverlapStateRow, query: Query, { settings, accept, openOnly = false }: FinderOptions): Promise<Scored[]> {
    const workspace = state.workspace_id;
    const terms = postedTerms(query.analysed).map(({ term }) => term);
    const frequencies = await termFrequencies(db, workspace, terms);
    const rarest = terms.filter((term) => frequencies.has(term)).sort((one, other) => (frequencies.get(one) as number) - (frequencies.get(other) as number));
    const chosen: { term: string; worth: number }[] = [];
    let postings = 0;
    for (const term of rarest) {
      const items = frequencies.get(term) as number;
      if (chosen.length > 0 && postings + items > POSTINGS_READ) break;
      chosen.push({ term, worth: inverseFrequency(state.items, items, backgroundShare(term), settings) });
      postings += items;
    }
    const rows = await mostShared(db, workspace, chosen, MAX_SHARED, openOnly);
    const seen = new Set(rows.map(({ id }) => id));
    const sameFiles = (await itemsWithFiles(db, workspace, query.files, SAME_FILES)).filter((id) => !seen.has(id));
    const candidates: Scorable[] = [...rows, ...(await findItems(db, workspace, sameFiles)).values()].filter((row) => accept(row.id, row));
    const vectors = await this.#vectors(db, workspace, candidates);
    const indexed = candidates.map((row) => ({ ...trustedItem(row), vector: vectors.get(row.id) }));
    const prefixes = [query.analysed.prefix, ...indexed.map(({ analysed }) => analysed.prefix)].filter((prefix) => prefix !== null);
    const analysed = [query, ...indexed].map((one) => one.analysed);
    const statistics = await this.#statistics(db, state, analysed, [...new Set(prefixes)]);
    const mine = weigh(query, statistics, settings);
    return indexed.map((item) => scoreWeighed(query, mine, item, statistics, settings));
  }

  /** Term frequencies are cached, because they change slowly in a large workspace. */
  async #statistics(
    db: Db,
    { workspace_id: workspace, items, revision }: OverlapStateRow,
    texts: readonly Analysed[],
    prefixes: string[],
  ): Promise<Statistics> {
    const known = this.#knownFrequencies(workspace, revision);
    const missing = new Set<string>();
    for (const { terms } of texts) for (const term of terms) if (!known.has(term)) missing.add(term);
    const read = await termFrequencies(db, workspace, [...missing]);
    for (const term of missing) known.set(term, read.get(term) ?? 0);
    const byPrefix = await prefixFrequencies(db, workspace, prefixes);
    return {
      documents: items,
      frequency: (term) => known.get(term) ?? 0,
      // There are no counts for paths: they would need another table, and most paths are about equally rare.
      fileFrequency: () => 1,
      prefixFrequency: (prefix) => byPrefix.get(prefix) ?? 0,
    };
  }

  #knownFrequencies(workspace: string, revision: number): Map<string, number> {
    const before = this.#frequencies.get(workspace);
    if (before && before.known.size <= KNOWN_FREQUENCIES && Math.abs(revision - before.revision) < FREQUENCIES_LAST) return before.known;
    const known = new Map<string, number>();
    this.#frequencies.set(workspace, { revision, known });
    return known;
  }

  #refreshed(workspace: string): Promise<KeptIndex> {
    const before = this.#refreshing.get(workspace) ?? Promise.resolve();
    const refresh = before.catch(() => {}).then(() => this.#refresh(workspace));
    this.#refreshing.set(workspace, refresh);
    const done = () => {
      // A finished promise is removed, because it would keep the index in memory.
      if (this.#refreshing.get(workspace) === refresh) this.#refreshing.delete(workspace);
    };
    refresh.then(done, done);
    return refresh;
  }

  /** Reads only committed rows, so that nothing stays in memory from a transaction that is rolled back. */
  async #refresh(workspace: string): Promise<KeptIndex> {
    const kept = this.#kept.get(workspace) ?? { index: new MemoryIndex(), meta: new Map(), revision: 0 };
    for (;;) {
      const rows = await itemsSince(this.#reader, workspace, kept.revision, PAGE);
      const vectors = await this.#vectors(this.#reader, workspace, rows);
      for (const row of rows) {
        kept.index.put({ ...trustedItem(row), vector: vectors.get(row.id) });
        const { kind, owner_id, closed_at, action, component } = row;
        kept.meta.set(row.id, { kind, owner_id, closed_at, action, component });
        kept.revision = row.revision;
      }
      if (rows.length < PAGE) break;
      // Reading ten thousand items takes a second, so other calls must run in between.
      await yieldToEventLoop();
    }
    this.#keep(workspace, kept);
    return kept;
  }

  #keep(workspace: string, kept: KeptIndex): void {
    this.#kept.delete(workspace);
    this.#kept.set(workspace, kept);
    let items = this.kept;
    for (const [other, { index }] of this.#kept) {
      if (items <= this.#keptItems || other === workspace) break;
      this.#kept.delete(other);
      items -= index.documents;
    }
  }

  async #vectors(db: Db, workspace: string, rows: readonly Scorable[]): Promise<Map<string, Float32Array>> {
    const model = this.#model;
    if (model === null || rows.length === 0) return new Map();
    const ids = rows.map(({ id }) => id);
    return await readVectors(db, workspace, ids, model);
  }

  /** Removes finished work from memory once it is too old to be compared. */
  forget(workspace: string, closedBefore: number): void {
    const kept = this.#kept.get(workspace);
    if (!kept) return;
    for (const [id, { closed_at }] of kept.meta) {
      if (closed_at === null || closed_at >= closedBefore) continue;
      kept.meta.delete(id);
      kept.index.delete(id);
    }
  }
}

const itemsSince = (db: Db, workspace: string, revision: number, limit: number): Promise<OverlapItemRow[]> =>
  matching(db, 'overlap_items', { workspace_id: workspace }).selectAll().where('revision', '>', revision).orderBy('revision').limit(limit).execute();
