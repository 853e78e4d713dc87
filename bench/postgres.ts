import { startPostgres as start, type TestPostgres } from '../src/testing/store/postgres.ts';

/** PostgreSQL as it comes: unlike that of the tests it syncs what it commits, and keeps house. */
export const startPostgres = (): Promise<TestPostgres> => start(['max_connections=400']);
