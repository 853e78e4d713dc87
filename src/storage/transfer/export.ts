import { createHash } from 'node:crypto';
import { type ChainBreak, ChainVerifier } from '../chain-verifier.ts';
import type { Db, Engine } from '../engine.ts';
import { type ChainPoint, GENESIS, readAnchor, readHead, toEvent } from '../journal.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import type { EventRow } from '../schema-rows.ts';
import { FORMAT, TransferRefused, writeLine, writeRow } from './format.ts';
import { rowProblem, TABLES, type TableLayout, type TransferRow } from './layout.ts';
import { inSnapshot, pagesOf } from './snapshot.ts';

export interface ExportOptions {
  readonly workspace: string;
  /** The version of this program, written to the file so that people see which version can read it. */
  readonly version: string;
  readonly now: number;
  /** If true, a journal with a broken chain is exported too, and the file records that it was not verified. */
  readonly unverified: boolean;
  /** Writes lines to the file. The export waits for it before it reads the next rows. */
  write(lines: string): Promise<void>;
  onRows?(rows: number): void;
  readonly signal?: AbortSignal;
}

export interface ExportResult {
  readonly rows: Readonly<Record<string, number>>;
  readonly journal: ChainPoint;
  readonly firstBreak: ChainBreak | null;
}

/** Exports all rows of a workspace as they were at one moment. */
export async function exportWorkspace(engine: Engine, options: ExportOptions): Promise<ExportResult> {
  return await inSnapshot(engine, (db) => writeSnapshot(engine, db, options));
}

async function writeSnapshot(engine: Engine, db: Db, options: ExportOptions): Promise<ExportResult> {
  const { workspace, version, now, unverified, signal } = options;
  const known = await db.selectFrom('workspaces').select(['id', 'name']).where('id', '=', workspace).executeTakeFirst();
  if (!known)
    throw new TransferRefused(
      'NOT_FOUND',
      `workspace: ${JSON.stringify(workspace.replace(/^ws_/, ''))} does not exist in this database.`,
      'Pass an existing workspace with --workspace NAME.',
    );
  const anchor = await readAnchor(db, workspace);
  const head = await readHead(db, workspace);
  const chain = new ChainVerifier(anchor);
  const sum = createHash('sha256');
  const put = async (lines: string) => {
    signal?.throwIfAborted();
    sum.update(lines);
    await options.write(lines);
  };

  await put(writeLine({ kind: 'covenant_export', format: FORMAT, schema: SCHEMA_VERSION, version, workspace: known, verified: !unverified, exported_at: now }));
  const rows: Record<string, number> = {};
  let written = 0;
  for (const table of TABLES) {
    rows[table.name] = 0;
    for await (const page of pagesOf(engine, db, table, workspace, anchor.seq)) {
      for (const row of page) refuseMisfit(table, row);
      if (table.name === 'events') for (const row of page) chain.add(toEvent(row as unknown as EventRow));
      if (!unverified) refuseBroken(chain.reached.firstBreak);
      await put(page.map((row) => writeRow(table, row)).join(''));
      rows[table.name] = (rows[table.name] ?? 0) + page.length;
      written += page.length;
      options.onRows?.(written);
    }
  }
  const { firstBreak } = chain.finish(head, anchor);
  if (!unverified) refuseBroken(firstBreak);
  const journal = { seq: head?.seq ?? 0, hash: head?.hash ?? GENESIS };
  await options.write(writeLine({ kind: 'end', rows, journal, sha256: sum.digest('hex') }));
  return { rows, journal, firstBreak };
}

function refuseBroken(firstBreak: ChainBreak | null): void {
  if (!firstBreak) return;
  throw new TransferRefused(
    'CHAIN_BROKEN',
    `The journal's chain breaks at event ${firstBreak.seq}: ${firstBreak.reason}.`,
    'Run `covenant audit verify` to see what is wrong. To export it anyway, add --unverified; the file then says that it is unverified.',
  );
}

function refuseMisfit(table: TableLayout, row: TransferRow): void {
  const reason = rowProblem(table, row);
  if (reason === undefined) return;
  const key = table.key.map((column) => `${column} ${row[column]}`).join(', ');
  throw new TransferRefused(
    'ROW_UNREADABLE',
    `${table.name} (${key}): ${reason}, so no import would accept this row.`,
    'Correct that row in the database or restore a backup, then export again.',
  );
}
