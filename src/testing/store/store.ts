import { openStore, type Store, type StoreOptions } from '../../storage/open.ts';
import { whenOver } from '../scope.ts';
import { administer, type TestDatabase, temporaryDatabase } from './database.ts';

/** Opens a real store with this run's engine. Several stores can be opened on one database, as by several processes. */
export async function openTestStore(database?: TestDatabase, options: Partial<StoreOptions> = {}): Promise<Store> {
  const { path, url } = database ?? (await temporaryDatabase());
  const store = await openStore({ path, url, now: Date.now, statementTimeoutMs: 30_000, ...options });
  whenOver(() => store.close());
  return store;
}

/** Opens a PostgreSQL store whose connections the test can refuse and cut without affecting other tests. */
export async function refusableStore() {
  const database = await temporaryDatabase();
  const url = new URL(database.url as string);
  const [server, name] = [url.href.slice(0, -url.pathname.length), url.pathname.slice(1)];
  const role = `role_${crypto.randomUUID().slice(0, 8)}`;
  await administer(server, `create role ${role} login password 'x'; grant all on all tables in schema public to ${role}`, name);
  Object.assign(url, { username: role, password: 'x' });
  const limit = (connections: number) => administer(server, `alter role ${role} connection limit ${connections}`);
  const cut = () => administer(server, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '${role}'`);
  return {
    store: await openTestStore({ ...database, url: url.href }),
    database,
    server,
    role,
    cut,
    refuse: async () => {
      await limit(0);
      await cut();
    },
    admit: () => limit(-1),
  };
}
