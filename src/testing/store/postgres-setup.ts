import type { TestProject } from 'vitest/node';
import { openStore } from '../../storage/open.ts';
import { administer, MIGRATED } from './database.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** Starts one PostgreSQL server for the whole run. Tests create their own databases in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  await administer(postgres.url, `create database ${MIGRATED}`);
  const store = await openStore({ url: `${postgres.url}/${MIGRATED}`, path: '', now: Date.now, statementTimeoutMs: 30_000 });
  await store.close();
  project.provide('postgresUrl', postgres.url);
  return () => postgres.stop();
}
