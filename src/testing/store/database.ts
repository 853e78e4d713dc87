import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import type { EngineKind } from '../../storage/engine.ts';
import { whenOver } from '../scope.ts';

/** The database engine of this test run. */
export const ENGINE: EngineKind = process.env.COVENANT_TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite';

/** A folder that is deleted when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-'));
  whenOver(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export interface TestDatabase {
  readonly home: string;
  readonly path: string;
  readonly url: string | undefined;
}

/** The name of a PostgreSQL database that has all tables but no rows. New databases are copies of it, because copying is fast. */
export const MIGRATED = 'migrated';

/** Creates an empty database of this run's engine, which is deleted when the test ends. It has all tables, except if `bare` is true. */
export async function temporaryDatabase(engine: EngineKind = ENGINE, { bare = false } = {}): Promise<TestDatabase> {
  const home = temporaryFolder();
  const path = join(home, 'covenant.db');
  if (engine === 'sqlite') return { home, path, url: undefined };
  const server = inject('postgresUrl');
  const name = (bare ? undefined : emptied.pop()) ?? (await newDatabase(server, bare ? 'template0' : MIGRATED));
  whenOver(() => (bare ? drop(server, name) : empty(server, name)));
  return { home, path, url: `${server}/${name}` };
}

/**
 * Databases that can be used again because earlier tests of the same file have emptied them. Emptying a database takes a tenth of the time that creating one
 * takes.
 */
const emptied: string[] = [];

async function newDatabase(server: string, template: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} template ${template}`);
  return name;
}

const drop = (server: string, name: string) => administer(server, `drop database if exists ${name} with (force)`);

/** Empties a database so that it can be used again. This is not possible if a test has changed its tables. */
async function empty(server: string, name: string): Promise<void> {
  await administer(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  try {
    await administer(server, EMPTY, name);
    emptied.push(name);
  } catch {
    await drop(server, name);
  }
}

const EMPTY = `do $$ declare tables text; begin
  select string_agg(format('delete from %I', tablename), ';') into strict tables from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations';
  execute tables;
end $$`;

export async function administer(server: string, statement: string, database = 'postgres'): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}/${database}` });
  await client.connect();
  await client.query(statement);
  await client.end();
}
