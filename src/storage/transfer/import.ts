import { createHash } from 'node:crypto';
import { ChainVerifier } from '../chain-verifier.ts';
import type { Db, Engine } from '../engine.ts';
import { type ChainPoint, toEvent } from '../journal.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import type { EventRow } from '../schema-rows.ts';
import { fileDamaged, readContent, readHeader, type TransferEnd, type TransferHeader, TransferRefused, writeLine } from './format.ts';
import { insertBatch, type RowBatch } from './insert.ts';
import { rowProblem, TABLES, type TableLayout, type TransferRow } from './layout.ts';
import { firstLine, linesOf, type TransferLine } from './lines.ts';
import type { ImportPlace, RowRules } from './row-rules.ts';
import { clearUntouched, rowCounts } from './target-workspace.ts';

export interface ImportOptions {
  readonly file: string;
  /** If true, the journal is imported without verifying its hash chain. */
  readonly unverified: boolean;
  /** The rules for the rows of each table. */
  readonly rules: RowRules;
  readonly place: ImportPlace;
  onProgress?(rows: number, bytes: number): void;
}

export interface ImportResult {
  readonly header: TransferHeader;
  /** The number of rows that each table of the workspace contains after the import. */
  readonly rows: Readonly<Record<string, number>>;
  /** The number of rows that were not imported, by the reason's name. */
  readonly leftOut: Readonly<Record<string, number>>;
  readonly journal: ChainPoint;
}

/** Reads and checks the header of the file. Called before the database is changed. */
export async function headerOf({ file, unverified }: Pick<ImportOptions, 'file' | 'unverified'>): Promise<TransferHeader> {
  const header = readHeader(await firstLine(file), SCHEMA_VERSION);
  if (!header.verified && !unverified) {
    throw new TransferRefused(
      'UNVERIFIED',
      "line 1: verified: the journal's chain was not verified at export.",
      'Export again without --unverified, or import with --unverified to accept the chain unchecked.',
    );
  }
  return header;
}

/**
 * Imports all rows that the rules accept, in one transaction that locks the workspace. If it fails, nothing is imported. The import adds no event to the
 * journal, so that anchors stored elsewhere still match its end.
 */
export async function importWorkspace(engine: Engine, options: ImportOptions): Promise<ImportResult> {
  const header = await headerOf(options);
  const workspace = header.workspace.id;
  return await engine.transaction(workspace, async (db) => {
    await clearUntouched(db, workspace);
    const intake = new ImportReader(engine, db, header, options);
    const { journal } = await intake.readAll();
    const rows = await rowCounts(db, workspace);
    const wrong = Object.keys(rows).find((table) => rows[table] !== intake.taken[table]);
    if (wrong) throw new Error(`${wrong}: ${intake.taken[wrong]} rows were inserted, but the table has ${rows[wrong]}`);
    return { header, rows, leftOut: intake.leftOut, journal };
  });
}

const BATCH_ROWS = 500;
const BATCH_CHARACTERS = 4 * 1024 * 1024;
const POSITIONS: ReadonlyMap<string, number> = new Map(TABLES.map(({ name }, position) => [name, position]));

/** Reads the file once, from the first line to the last. */
class ImportReader {
  readonly #engine: Engine;
  readonly #db: Db;
  readonly #header: TransferHeader;
  readonly #options: ImportOptions;
  readonly #sum = createHash('sha256');
  /** The number of inserted rows, by table. */
  readonly taken: Record<string, number> = Object.fromEntries(TABLES.map(({ name }) => [name, 0]));
  readonly leftOut: Record<string, number> = {};
  readonly #counts: Record<string, number> = { ...this.taken };
  #batch: RowBatch | undefined;
  #batchCharacters = 0;
  #position = 0;
  #rows = 0;
  #bytes = 0;
  #anchor: ChainPoint | undefined;
  #head: ChainPoint | undefined;
  #chain: ChainVerifier | undefined;

  constructor(engine: Engine, db: Db, header: TransferHeader, options: ImportOptions) {
    this.#engine = engine;
    this.#db = db;
    this.#header = header;
    this.#options = options;
  }

  async readAll(): Promise<TransferEnd> {
    let end: TransferEnd | undefined;
    let last = 0;
    for await (const line of linesOf(this.#options.file)) {
      last = line.number;
      this.#bytes += line.bytes.length;
      if (end) throw fileDamaged(line.number, 'the file continues after its end line');
      const content = line.number === 1 ? undefined : readContent(line.text, line.number);
      if (content && 'end' in content) {
        end = content.end;
        this.#check(end, line);
        continue;
      }
      this.#sum.update(line.bytes);
      if (content) await this.#take(content, line);
    }
    if (!end) throw fileDamaged(last, 'the file ends here without its end line, so it was cut short');
    await this.#insert();
    return end;
  }

  async #take({ table: name, row }: { table: string; row: TransferRow }, { number, text }: TransferLine): Promise<void> {
    const position = POSITIONS.get(name);
    const table = position === undefined ? undefined : TABLES[position];
    if (position === undefined || !table) throw fileDamaged(number, `table: unknown table ${JSON.stringify(name.slice(0, 60))}`);
    if (position < this.#position) throw fileDamaged(number, `table: ${name} is out of order`);
    this.#position = position;
    const reason = rowProblem(table, row);
    if (reason) throw fileDamaged(number, `${name}.${reason}`);
    if (row[table.owner] !== this.#header.workspace.id) throw fileDamaged(number, `${name}.${table.owner}: the row belongs to another workspace`);
    this.#follow(table, row, number);
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
    this.#rows++;
    const brought = this.#judge(table, row, number);
    if (!brought) return;
    this.taken[name] = (this.taken[name] ?? 0) + 1;
    if (this.#batch && (this.#batch.table !== table || this.#batch.rows.length >= BATCH_ROWS || this.#batchCharacters > BATCH_CHARACTERS)) await this.#insert();
    this.#batch ??= { table, rows: [], lines: [] };
    this.#batch.rows.push(brought);
    this.#batch.lines.push(number);
    this.#batchCharacters += text.length;
  }

  /** Applies the rule of the row's table. Returns the row to import, or undefined if it is left out. */
  #judge({ name }: TableLayout, row: TransferRow, line: number): TransferRow | undefined {
    const verdict = this.#options.rules[name as keyof RowRules](row, this.#options.place);
    if ('wrong' in verdict) {
      throw new TransferRefused(
        'ROW_REFUSED',
        `line ${line}: ${name}.${verdict.wrong}.`,
        'No server writes such a row, so the file was modified: get a new export. Nothing was changed.',
      );
    }
    if (verdict.leftOut !== undefined) this.leftOut[verdict.leftOut] = (this.leftOut[verdict.leftOut] ?? 0) + 1;
    return verdict.row ?? undefined;
  }

  /** Verifies the journal while its rows are read, so that an error message can include the line number of the break. */
  #follow({ name }: TableLayout, row: TransferRow, line: number): void {
    if (name === 'journal_anchors') this.#anchor = pointOf(row);
    if (name === 'journal_heads') this.#head = pointOf(row);
    if (name !== 'events' || this.#options.unverified) return;
    this.#chain ??= new ChainVerifier(this.#anchor);
    this.#chain.add(toEvent(row as unknown as EventRow));
    const { firstBreak } = this.#chain.reached;
    if (firstBreak) throw fileDamaged(line, `the journal's chain breaks at event ${firstBreak.seq}: ${firstBreak.reason}`);
  }

  async #insert(): Promise<void> {
    if (!this.#batch) return;
    await insertBatch(this.#engine, this.#db, this.#batch, this.#header.workspace.id);
    this.#batch = undefined;
    this.#batchCharacters = 0;
    this.#options.onProgress?.(this.#rows, this.#bytes);
  }

  #check(end: TransferEnd, { number: line, bytes }: TransferLine): void {
    // The digest does not cover the last line itself, so that line is compared byte by byte.
    if (!bytes.equals(Buffer.from(writeLine(end)))) throw fileDamaged(line, 'this line was changed');
    if (this.#sum.digest('hex') !== end.sha256) throw fileDamaged(line, 'sha256: a line before this one was changed, removed or moved');
    const tables = new Set([...Object.keys(this.#counts), ...Object.keys(end.rows)]);
    for (const table of tables) {
      if (this.#counts[table] !== end.rows[table]) {
        throw fileDamaged(line, `rows.${table}: this line counts ${end.rows[table] ?? 'no'} rows, but the file has ${this.#counts[table] ?? 'none'}`);
      }
    }
    if (this.#head ? this.#head.seq !== end.journal.seq || this.#head.hash !== end.journal.hash : end.journal.seq !== 0) {
      throw fileDamaged(line, 'journal: differs from the row of journal_heads');
    }
    if (this.#options.unverified) return;
    const { firstBreak } = (this.#chain ?? new ChainVerifier(this.#anchor)).finish(this.#head, this.#anchor);
    if (firstBreak) throw fileDamaged(line, `the journal's chain breaks at event ${firstBreak.seq}: ${firstBreak.reason}`);
  }
}

const pointOf = ({ seq, hash }: TransferRow): ChainPoint => ({ seq: Number(seq), hash: String(hash) });
