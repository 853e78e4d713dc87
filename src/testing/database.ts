import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { EngineKind } from '../storage/engine.ts';

/** Which engine this run of the suite is for. */
export const ENGINE: EngineKind = process.env.COVENANT_TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite';

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export interface TestDatabase {
  readonly home: string;
  readonly path: string;
  readonly url: string | undefined;
}

/** The name of the PostgreSQL database that has every migration and nothing else: a copy of it is made in a moment. */
export const MIGRATED = 'migrated';

/** A database of this run's engine without any row, gone when the test is over; with its tables unless it is to be `bare`. */
export async function temporaryDatabase(engine: EngineKind = ENGINE, { bare = false } = {}): Promise<TestDatabase> {
  const home = temporaryFolder();
  const path = join(home, 'covenant.db');
  if (engine === 'sqlite') return { home, path, url: undefined };
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} template ${bare ? 'template0' : MIGRATED}`);
  onTestFinished(() => administer(server, `drop database if exists ${name} with (force)`));
  return { home, path, url: `${server}/${name}` };
}

export async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(statement);
  await client.end();
}
