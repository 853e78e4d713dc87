import { expect, test } from 'vitest';
import { ENGINE } from '../testing/store/database.ts';
import { openTestStore, refusableStore } from '../testing/store/store.ts';
import { StoreBusy } from './errors.ts';
import { firstSeqSince, readEvents } from './journal.ts';

const W = 'ws_test';
const HOUR = 3_600_000;

test.runIf(ENGINE === 'postgres')('if a read gets no connection or loses it, the read reports a busy database, and the next read works', async () => {
  const { store, server, role, refuse, admit, cut } = await refusableStore();
  const read = () => store.reader.selectFrom('workspaces').select('name').execute();
  expect(await read()).toEqual([]);
  await refuse();
  await expect(read()).rejects.toBeInstanceOf(StoreBusy);
  await admit();
  expect(await read()).toEqual([]);
  const slow = store.reader.selectNoFrom(({ fn, val }) => fn('pg_sleep', [val(30)]).as('slept')).execute();
  await expect.poll(async () => (await readingNow(server, role)).length).toBe(1);
  await Promise.all([expect(slow).rejects.toBeInstanceOf(StoreBusy), cut()]);
  expect(await read()).toEqual([]);
});

test.runIf(ENGINE === 'postgres')('a connection that a read has lost is not reused by another read', async () => {
  const { store, server, role, cut } = await refusableStore();
  const slow = store.reader.selectNoFrom(({ fn, val }) => fn('pg_sleep', [val(30)]).as('slept')).execute();
  const next = slow.then(
    () => 'not cut',
    () => store.reader.selectFrom('workspaces').select('name').execute(),
  );
  await expect.poll(async () => (await readingNow(server, role)).length).toBe(1);
  await cut();
  expect(await next).toEqual([]);
});

async function readingNow(server: string, role: string): Promise<unknown[]> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  const { rows } = await client.query(`select 1 from pg_stat_activity where usename = '${role}' and query like '%pg_sleep%' and state = 'active'`);
  await client.end();
  return rows;
}

test('event times never decrease, even if the clock is set back', async () => {
  let time = 10 * HOUR;
  const store = await openTestStore(undefined, { now: () => time });
  const at = async (now: number, ...kinds: string[]) => {
    time = now;
    await store.append(
      W,
      kinds.map((kind) => ({ category: 'work' as const, kind, actor: 'tester' })),
    );
  };
  await at(10 * HOUR, 'noon');
  await at(7 * HOUR, 'set back', 'still');
  await at(11 * HOUR, 'later');
  expect((await readEvents(store.reader, W, 0, 10)).map((event) => event.time / HOUR)).toEqual([10, 10, 10, 11]);
  expect(await firstSeqSince(store.reader, W, 10.5 * HOUR)).toBe(4);
});
