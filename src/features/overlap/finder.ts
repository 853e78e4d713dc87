import type { Db } from '../../storage/engine.ts';
import { backgroundShare } from './background.ts';
import { MemoryIndex } from './memory-index.ts';
import { type Query, type Scored, type Statistics, scorePair } from './score.ts';
import type { OverlapSettings } from './settings.ts';
import {
  findItems,
  itemsByNumber,
  itemsSince,
  itemsWithFiles,
  mostShared,
  postedTerms,
  prefixFrequencies,
  readState,
  type Scorable,
  termFrequencies,
} from './store.ts';
import { trustedItem } from './stored.ts';
import type { OverlapItemRow } from './tables.ts';
import { readVectors } from './vectors.ts';
import { inverseFrequency } from './weigh.ts';

/** Up to so many items are scored one and all in this process; beyond, the postings in the store find whom to score. */
const IN_PROCESS = 10_000;
const PAGE = 1_000;
const MOST_SHARED = 300;
const SAME_FILES = 100;
/** So many postings are read for one search: the rarest terms first, and at least one. */
const POSTINGS_READ = 10_000;
const KNOWN_FREQUENCIES = 50_000;

/** What the rules need to know of an item before it is scored. */
export type Meta = Pick<OverlapItemRow, 'kind' | 'owner_id' | 'closed_at'>;

export interface SearchOptions {
  readonly settings: OverlapSettings;
  readonly limit: number;
  accept(id: string, meta: Meta): boolean;
}

interface Kept {
  readonly index: MemoryIndex;
  readonly meta: Map<string, Meta>;
  revision: number;
}

/** Finds the work that is most like a query. What it keeps in memory can be rebuilt from the store at any time. */
export class Finder {
  readonly #reader: Db;
  /** Of the embedding model in use; null where there is none. */
  readonly #model: () => string | null;
  readonly #inProcess: number;
  readonly #kept = new Map<string, Kept>();
  readonly #refreshing = new Map<string, Promise<Kept>>();
  readonly #frequencies = new Map<string, Map<string, number>>();

  constructor(reader: Db, model: () => string | null = () => null, inProcess = IN_PROCESS) {
    this.#reader = reader;
    this.#model = model;
    this.#inProcess = inProcess;
  }

  /** Reads what was committed since the last time, so that a search inside a transaction has little left to read. */
  async prepare(workspace: string): Promise<void> {
    const state = await readState(this.#reader, workspace);
    if (state && state.items <= this.#inProcess) await this.#refreshed(workspace);
    else this.#kept.delete(workspace);
  }

  /** `db` may be a running transaction: then what it has written counts, and what others have committed. */
  async search(db: Db, workspace: string, query: Query, options: SearchOptions): Promise<Scored[]> {
    const state = await readState(db, workspace);
    if (!state) return [];
    const found =
      state.items <= this.#inProcess ? await this.#inMemory(db, workspace, query, options) : await this.#inStore(db, workspace, query, state.items, options);
    return found.sort((one, other) => other.score - one.score || (one.id < other.id ? 1 : -1)).slice(0, options.limit);
  }

  async #inMemory(db: Db, workspace: string, query: Query, { settings, limit, accept }: SearchOptions): Promise<Scored[]> {
    const { index, meta, revision } = this.#kept.get(workspace) ?? (await this.#refreshed(workspace));
    const fresh = await itemsSince(db, workspace, revision, this.#inProcess);
    const overtaken = new Set(fresh.map(({ id }) => id));
    const known = index.search(query, settings, { limit, accept: (id) => !overtaken.has(id) && accept(id, meta.get(id) as Meta) });
    const vectors = await this.#vectors(db, workspace, fresh);
    const added = fresh
      .filter((row) => accept(row.id, row))
      .map((row) => scorePair(query, { ...trustedItem(row), vector: vectors.get(row.id) }, index, settings))
      .filter(({ score }) => score > 0);
    return [...known, ...added];
  }

  async #inStore(db: Db, workspace: string, query: Query, documents: number, { settings, accept }: SearchOptions): Promise<Scored[]> {
    const wanted = postedTerms(query.analysed).map(({ term }) => term);
    const frequencies = await termFrequencies(db, workspace, wanted);
    const rarest = wanted.filter((term) => frequencies.has(term)).sort((one, other) => (frequencies.get(one) as number) - (frequencies.get(other) as number));
    const chosen: { term: string; worth: number }[] = [];
    let postings = 0;
    for (const term of rarest) {
      const items = frequencies.get(term) as number;
      if (chosen.length > 0 && postings + items > POSTINGS_READ) break;
      chosen.push({ term, worth: inverseFrequency(documents, items, backgroundShare(term), settings) });
      postings += items;
    }
    const rows = await itemsByNumber(db, workspace, await mostShared(db, workspace, chosen, MOST_SHARED));
    const seen = new Set(rows.map(({ id }) => id));
    const sameFiles = (await itemsWithFiles(db, workspace, query.files, SAME_FILES)).filter((id) => !seen.has(id));
    const candidates: Scorable[] = [...rows, ...(await findItems(db, workspace, sameFiles)).values()].filter((row) => accept(row.id, row));
    const vectors = await this.#vectors(db, workspace, candidates);
    const indexed = candidates.map((row) => ({ ...trustedItem(row), vector: vectors.get(row.id) }));
    const prefixes = [query.analysed.prefix, ...indexed.map(({ analysed }) => analysed.prefix)].filter((prefix) => prefix !== null);
    const statistics = await this.#statistics(db, workspace, documents, new Set(indexed.flatMap(({ analysed }) => Object.keys(analysed.terms))), [
      ...new Set(prefixes),
    ]);
    return indexed.map((item) => scorePair(query, item, statistics, settings)).filter(({ score }) => score > 0);
  }

  /** Frequencies change slowly in a workspace of this size: once read, they serve until the memory for them is used up. */
  async #statistics(db: Db, workspace: string, documents: number, terms: ReadonlySet<string>, prefixes: string[]): Promise<Statistics> {
    let known = this.#frequencies.get(workspace);
    if (!known || known.size > KNOWN_FREQUENCIES) this.#frequencies.set(workspace, (known = new Map()));
    const missing = [...terms].filter((term) => !known.has(term));
    const read = await termFrequencies(db, workspace, missing);
    for (const term of missing) known.set(term, read.get(term) ?? 0);
    const byPrefix = await prefixFrequencies(db, workspace, prefixes);
    return {
      documents,
      frequency: (term) => known.get(term) ?? 0,
      // Counting them would take another table; how rare a path is hardly varies.
      fileFrequency: () => 1,
      prefixFrequency: (prefix) => byPrefix.get(prefix) ?? 0,
    };
  }

  #refreshed(workspace: string): Promise<Kept> {
    const before = this.#refreshing.get(workspace) ?? Promise.resolve();
    const refresh = before.catch(() => {}).then(() => this.#refresh(workspace));
    this.#refreshing.set(workspace, refresh);
    return refresh;
  }

  /** Committed rows only: a transaction that is rolled back must leave nothing in memory. */
  async #refresh(workspace: string): Promise<Kept> {
    const kept = this.#kept.get(workspace) ?? { index: new MemoryIndex(), meta: new Map(), revision: 0 };
    for (;;) {
      const rows = await itemsSince(this.#reader, workspace, kept.revision, PAGE);
      const vectors = await this.#vectors(this.#reader, workspace, rows);
      for (const row of rows) {
        kept.index.put({ ...trustedItem(row), vector: vectors.get(row.id) });
        kept.meta.set(row.id, { kind: row.kind, owner_id: row.owner_id, closed_at: row.closed_at });
        kept.revision = row.revision;
      }
      if (rows.length < PAGE) break;
    }
    this.#kept.set(workspace, kept);
    return kept;
  }

  async #vectors(db: Db, workspace: string, rows: readonly Scorable[]): Promise<Map<string, Float32Array>> {
    const model = this.#model();
    if (model === null || rows.length === 0) return new Map();
    return await readVectors(
      db,
      workspace,
      rows.map(({ id }) => id),
      model,
    );
  }

  /** Forgets what is no longer compared with, so that memory follows the store. */
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
