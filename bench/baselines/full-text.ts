import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { MadeTask } from '../tasks.ts';

/** Baseline: what SQLite has for finding texts that are like another. */
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

  /** The ten best by BM25, any of the words being enough. */
  best({ title, scope }: MadeTask): unknown[] {
    const words = new Set(`${title} ${scope}`.split(' '));
    return this.#search.all([...words].map((word) => `"${word}"`).join(' OR '));
  }

  close(): void {
    this.#db.close();
  }
}
