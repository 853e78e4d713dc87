import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Tx } from '../../../storage/write.ts';
import { instanceApp } from '../../../testing/scenes/instances.ts';
import { pretendedDisk } from '../../../testing/stand-ins/pretended-disk.ts';
import { ENGINE } from '../../../testing/store/database.ts';
import { until } from '../../../testing/until.ts';
import type { InstancePorts } from './ports.ts';
import { reserve } from './reserve.ts';

test('simultaneous starts in two workspaces never exceed the number of agents that may run on the machine', async () => {
  const { app } = await instanceApp(pretendedDisk);
  const ports = { registerAgent: async (tx: Tx) => `ag_${tx.workspace}` } as unknown as InstancePorts;
  const wanted = { type: 'coding', agent: 'tiny', developer: null, repository: '/srv/shop', baseBranch: 'main', baseCommit: 'c', issue: null } as const;
  const start = (tx: Tx) => reserve(tx, { machine: 'here', maxRunning: 1 }, ports, 'operator', { ...wanted, folders: [], prompt: () => 'Work.' });
  const [reserved, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = app.store.write('ws_one', async (tx) => {
    const row = await start(tx);
    reserved.resolve();
    await released.promise;
    return row;
  });
  await reserved.promise;
  let isSettled = false;
  const second = app.store.write('ws_two', start).finally(() => {
    isSettled = true;
  });
  const refused = expect(second).rejects.toMatchObject({ code: 'INSTANCE_LIMIT' });
  // SQLite allows one writer at a time, so the second start can count the instances only after the first start is committed.
  const here = sql`(select oid from pg_database where datname = current_database())`;
  const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and not granted and database = ${here}`;
  const isWaiting = async () => ENGINE === 'sqlite' || (await waiting.execute(app.store.reader)).rows.length > 0;
  await until(async () => expect(isSettled || (await isWaiting())).toBe(true));
  released.resolve();
  await refused;
  expect((await first).id).toBe('adhoc-a1');
});
