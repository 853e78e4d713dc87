import { startPostgres as start, type TestPostgres } from '../src/testing/store/postgres.ts';

/** Starts PostgreSQL with its default settings. Unlike the PostgreSQL that tests use, it syncs commits to disk and runs autovacuum. */
export const startPostgres = (): Promise<TestPostgres> => start(['max_connections=400']);
