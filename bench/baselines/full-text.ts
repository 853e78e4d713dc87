import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { MadeTask } from '../tasks.ts';

/** Baseline: SQLite's full-text search for similar texts. */
export class FullText {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #search: StatementSync;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec('pragma journal_mode = wal; pragma synchronous = full');
    this.#db.exec('create virtual table texts using fts5(title, scope)');
    this.#insert = this.#db.prepare('insert into texts (title, scope) values (?, ?)');
    this.#search = this.#db.prepare('select rowid, title, scope, rank from texts where texts match ? order by rank limit 10');
  }

  add(tasks: readonly MadeTask[]): void {
    this.#db.exec('begin');
    for (const { title, scope } of tasks) this.#insert.run(title, scope);
    this.#db.exec('commit');
  }

  /** The ten best matches by BM25 that contain any of the words. */
  best({ title, scope }: MadeTask): unknown[] {
    const words = new Set(`${title} ${scope}`.split(' '));
    return this.#search.all([...words].map((word) => `"${word}"`).join(' OR '));
  }

  close(): void {
    this.#db.close();
  }
}
