/** Baseline: writes the rows of one call's event directly into the same tables, with one COMMIT per event. It has no gate, no hash chain and no cache. */

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openStore } from '../../src/storage/open.ts';
import { lockKey } from '../../src/storage/postgres.ts';
import type { Place } from '../app.ts';

export interface Plain {
  /** Appends one event, or several events in one transaction, on the connection of this writer. */
  append(writer: number, events?: number): Promise<void>;
  /** Appends events without any order between writers. Each insert commits separately, so the events could not be chained. */
  unchained?(writer: number): Promise<void>;
  close(): Promise<void>;
}

const WORKSPACE = 'plain';
const UNCHAINED = 'unchained';
const HASH = 'a'.repeat(64);
const INSERT = 'insert into events (workspace_id, seq, category, kind, actor, subject, session, payload, time, hash) values';
const COLUMNS = 10;
const MOVE =
  'insert into journal_heads (workspace_id, seq, hash) values ($1, $2, $3) on conflict (workspace_id) do update set seq = excluded.seq, hash = excluded.hash';
export const SAMPLE_EVENT = {
  category: 'usage',
  kind: 'echo',
  actor: 'developer:dev_01kxyz0000000000000000bench',
  subject: 'tool:echo',
  payload: {
    arguments_sha256: HASH,
    duration_ms: 1.2,
    grant: 'grant_01kxyz0000000000000000bench',
    outcome: 'ok',
    request_id: 'req_01kxyz0000000000000000bench',
    surface: 'api',
    token_id: 'tok_01kxyz0000000000000000bench',
  },
} as const;
const PAYLOAD = JSON.stringify(SAMPLE_EVENT.payload);

const row = (seq: number, workspace = WORKSPACE) => [
  workspace,
  seq,
  SAMPLE_EVENT.category,
  SAMPLE_EVENT.kind,
  SAMPLE_EVENT.actor,
  SAMPLE_EVENT.subject,
  null,
  PAYLOAD,
  Date.now(),
  HASH,
];

export const openPlain = ({ path, url }: Place, writers: number): Promise<Plain> => (url ? plainPostgres(url, writers) : plainSqlite(path));

/** Uses the product's own tables and indexes, so that the writes are comparable. */
async function makeTables(place: Place): Promise<void> {
  await (await openStore({ ...place, now: Date.now, statementTimeoutMs: 60_000 })).close();
}

export async function plainSqlite(path: string): Promise<Plain> {
  await makeTables({ path });
  const db = new DatabaseSync(path);
  db.exec('pragma synchronous = full; pragma wal_autocheckpoint = 4000');
  const head = db.prepare('select seq from journal_heads where workspace_id = ?');
  const insert = db.prepare(`${INSERT} (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const move = db.prepare(MOVE.replace(/\$\d/g, '?'));
  return {
    async append(_writer, events = 1) {
      db.exec('begin immediate');
      let seq = Number(head.get(WORKSPACE)?.seq ?? 0);
      for (let n = 0; n < events; n++) insert.run(...row(++seq));
      move.run(WORKSPACE, seq, HASH);
      db.exec('commit');
    },
    async close() {
      db.close();
    },
  };
}

/** One connection per writer. Writers take turns in the same way as several servers on one database. */
async function plainPostgres(url: string, writers: number): Promise<Plain> {
  await makeTables({ path: '', url });
  const clients = await connect(url, writers);
  let last = 0;
  const lock = `begin isolation level read committed; select pg_advisory_xact_lock(${lockKey(WORKSPACE)})`;
  return {
    async append(writer, events = 1) {
      const client = clients[writer] as pg.Client;
      await client.query(lock);
      const { rows } = await client.query<{ seq: string }>({
        name: 'head',
        text: 'select seq from journal_heads where workspace_id = $1',
        values: [WORKSPACE],
      });
      const first = Number(rows[0]?.seq ?? 0) + 1;
      const all = Array.from({ length: events }, (_, n) => row(first + n));
      await client.query({ name: `insert ${events}`, text: `${INSERT} ${placeholders(events)}`, values: all.flat() });
      await client.query({ name: 'move', text: MOVE, values: [WORKSPACE, first + events - 1, HASH] });
      await client.query('commit');
    },
    async unchained(writer) {
      await (clients[writer] as pg.Client).query({ name: 'insert', text: `${INSERT} ${placeholders(1)}`, values: row(++last, UNCHAINED) });
    },
    close: () => end(clients),
  };
}

const connect = (url: string, count: number): Promise<pg.Client[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );

async function end(clients: readonly pg.Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.end()));
}

const placeholders = (rows: number): string =>
  Array.from({ length: rows }, (_, at) => `(${Array.from({ length: COLUMNS }, (_, n) => `$${at * COLUMNS + n + 1}`).join(', ')})`).join(', ');
