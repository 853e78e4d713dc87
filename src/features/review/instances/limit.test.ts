import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Tx } from '../../../storage/write.ts';
import { instanceApp } from '../../../testing/scenes/instances.ts';
import { pretendedDisk } from '../../../testing/stand-ins/pretended-disk.ts';
import { reserve } from './start.ts';
import type { InstancePorts } from './step.ts';

test('of two starts at the same moment in two workspaces only as many are taken as may run on the machine', async () => {
  const { app } = await instanceApp(pretendedDisk);
  const ports = { registerAgent: async (tx: Tx) => `ag_${tx.workspace}` } as unknown as InstancePorts;
  const wanted = { type: 'coding', agent: 'tiny', developer: null, repository: '/srv/shop', baseBranch: 'main', baseCommit: 'c', issue: null } as const;
  const start = (tx: Tx) => reserve(tx, { machine: 'here', maxRunning: 1 }, ports, 'operator', { ...wanted, folders: [], prompt: () => 'Work.' });
  const reserved = Promise.withResolvers<void>();
  const first = app.store.write('ws_one', async (tx) => {
    const row = await start(tx);
    reserved.resolve();
    // The other counts before this one is committed.
    await sleep(300);
    return row;
  });
  await reserved.promise;
  await expect(app.store.write('ws_two', start)).rejects.toMatchObject({ code: 'INSTANCE_LIMIT' });
  expect((await first).id).toBe('adhoc-a1');
});
