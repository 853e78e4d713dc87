import { startPostgres as start, type TestPostgres } from '../src/testing/store/postgres.ts';

/** PostgreSQL with its default settings. Unlike the one in tests, it syncs commits and runs autovacuum. */
export const startPostgres = (): Promise<TestPostgres> => start(['max_connections=400']);
