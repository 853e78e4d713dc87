import { openStore, type Store, type StoreOptions } from '../storage/open.ts';
import { type TestDatabase, temporaryDatabase } from './database.ts';
import { whenOver } from './scope.ts';

/** A real store of this run's engine; several may be opened on one database, as several processes would. */
export async function openTestStore(database?: TestDatabase, options: Partial<StoreOptions> = {}): Promise<Store> {
  const { path, url } = database ?? (await temporaryDatabase());
  const store = await openStore({ path, url, now: Date.now, statementTimeoutMs: 30_000, ...options });
  whenOver(() => store.close());
  return store;
}
