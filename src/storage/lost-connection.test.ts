import { type AddressInfo, createServer } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { whenOver } from '../testing/scope.ts';
import { administer, ENGINE, temporaryDatabase } from '../testing/store/database.ts';
import { openTestStore, refusableStore } from '../testing/store/store.ts';
import { until } from '../testing/until.ts';
import { StoreBusy, StoreUnwritable } from './errors.ts';
import type { Store } from './open.ts';
import { lockKey } from './postgres.ts';

const W = 'ws_test';
const append = (store: Store, workspace = W) => store.append(workspace, [{ category: 'work', kind: 'told', actor: 'tester' }]);
const onPostgres = test.runIf(ENGINE === 'postgres');

/** Like a machine that was suspended: nothing in this process runs meanwhile. */
const asleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Like another server in the middle of writing. */
async function hold(url: string | undefined, workspaces: readonly string[]): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  whenOver(() => client.end());
  await client.query('begin');
  for (const workspace of workspaces) await client.query(`select pg_advisory_xact_lock(${lockKey(workspace)})`);
  return client;
}

onPostgres('reruns a transaction that the database ended while this process was suspended', async () => {
  const store = await openTestStore();
  let tries = 0;
  await store.write(W, async ({ db }) => {
    tries++;
    await db.insertInto('workspaces').values({ id: W, name: W, created_at: 0 }).execute();
    if (tries > 1) return;
    await sql`set idle_in_transaction_session_timeout = 20`.execute(db);
    asleep(500);
    await db.selectFrom('workspaces').select('name').execute();
  });
  expect(tries).toBe(2);
});

onPostgres('an unknown host is reported as a database that cannot be reached', async () => {
  await expect(openTestStore({ home: '', path: '', url: 'postgres://x:x@nowhere.invalid/x' })).rejects.toBeInstanceOf(StoreBusy);
});

onPostgres('a database that became read-only, for example because its disk is full, refuses writes and still allows reads', async () => {
  const { store, server, role, cut } = await refusableStore();
  await administer(server, `alter role ${role} set default_transaction_read_only = on`);
  await cut();
  await expect(append(store)).rejects.toBeInstanceOf(StoreUnwritable);
  expect(await store.reader.selectFrom('workspaces').select('name').execute()).toEqual([]);
});

onPostgres("a write that exceeds the database's own lock timeout fails because the database is busy", async () => {
  const { store, server, role, database, cut } = await refusableStore();
  await administer(server, `alter role ${role} set lock_timeout = 20`);
  await cut();
  const holder = await hold(database.url, [W]);
  await expect(append(store)).rejects.toBeInstanceOf(StoreBusy);
  await holder.end();
  expect(await append(store)).toBe(1);
});

onPostgres('tries a database that does not answer only once, because each try takes long', async () => {
  let asked = 0;
  const mute = createServer((socket) => {
    asked++;
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  whenOver(() => mute.close());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  whenOver(() => vi.useRealTimers());
  const opened = openTestStore({ home: '', path: '', url: `postgres://x:x@127.0.0.1:${(mute.address() as AddressInfo).port}/x` });
  const told = expect(opened).rejects.toBeInstanceOf(StoreBusy);
  await until(() => expect(asked).toBe(1));
  for (let seconds = 0; seconds < 60; seconds++) await vi.advanceTimersByTimeAsync(1_000);
  await told;
  expect(asked).toBe(1);
});

onPostgres('a connection that cannot listen is closed, so that retries do not accumulate connections', async () => {
  const query = pg.Client.prototype.query as unknown as (this: pg.Client, ...args: unknown[]) => unknown;
  let refused = 0;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if (!String(args[0]).startsWith('listen') || refused === 2) return query.apply(this, args);
    refused++;
    return Promise.reject(new Error('cannot execute LISTEN during recovery'));
  } as never);
  const { store, server, role } = await refusableStore();
  const listening = async () => {
    const client = new pg.Client({ connectionString: `${server}/postgres` });
    await client.connect();
    const { rows } = await client.query(`select query from pg_stat_activity where usename = '${role}' and query not like 'select%'`);
    await client.end();
    return rows.map((row) => row.query);
  };
  await expect.poll(listening).toContain('listen covenant_events');
  await store.reader.selectFrom('workspaces').select('name').execute();
  expect(refused).toBe(2);
  expect(await listening()).toEqual(['listen covenant_events']);
});

onPostgres('readers do not wait for connections of writers that wait for their turn', async () => {
  const database = await temporaryDatabase();
  const store = await openTestStore(database);
  const workspaces = Array.from({ length: 25 }, (_, index) => `ws_${index}`);
  const holder = await hold(database.url, workspaces);
  const writes = workspaces.map((workspace) => append(store, workspace));
  const waiting = () => holder.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`);
  await expect.poll(async () => (await waiting()).rows.length).toBeGreaterThanOrEqual(5);
  expect(await store.reader.selectFrom('workspaces').select('name').execute()).toEqual([]);
  await holder.end();
  expect(await Promise.all(writes)).toEqual(workspaces.map(() => 1));
});
