import { expect, test } from 'vitest';
import { madeTask } from '../../../../bench/tasks.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { openTestStore } from '../../../testing/store/store.ts';
import { Finder } from './finder.ts';
import { type Bounds, likePairs } from './pairs.ts';
import { indexItem, type WorkItem } from './store.ts';

const NOW = 1_000_000;
const work = { kind: 'task', ownerId: 'dev_1', description: null, action: null, component: null, taskType: 'chore', repo: null, files: [] } as const;
const done = { status: 'completed', closedAt: NOW } as const;
const active = { status: 'active', closedAt: null } as const;

async function audited(items: readonly WorkItem[], bounds: Bounds = {}) {
  const store = await openTestStore();
  await store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    for (const item of items) await indexItem(tx, item);
  });
  return await likePairs(store.reader, DEFAULT_WORKSPACE_ID, new Finder(store.reader), NOW, bounds);
}

const fillers = Array.from({ length: 40 }, (_, seed): WorkItem => ({ ...work, ...active, ...madeTask(seed), files: [], id: `filler_${seed}` }));

test('pairs with open work come before pairs of finished work, even if the finished work is more similar', async () => {
  const title = 'Rotate the signing keys of the payment gateway every night';
  const { pairs } = await audited([
    ...fillers,
    { ...work, ...done, id: 'task_1', title, scope: 'Nightly rotation of the gateway signing keys' },
    { ...work, ...done, id: 'task_2', title, scope: 'Nightly rotation of the gateway signing keys' },
    { ...work, ...active, id: 'task_3', title: 'Compress avatar thumbnails before they are cached', scope: null },
    { ...work, ...active, id: 'task_4', title: 'Cache avatar thumbnails compressed', scope: null },
  ]);
  const told = pairs.map(({ first, second }) => `${first.id} ${second.id}`);
  expect(told).toEqual(['task_3 task_4', 'task_1 task_2']);
  expect(pairs[1]?.score).toBeGreaterThan(pairs[0]?.score as number);
});

test('work that was not compared is counted, whether the limit was the number of items or the time', async () => {
  expect(await audited(fillers, { limit: 10 })).toMatchObject({ compared: 10, leftOut: 30 });
  expect(await audited(fillers, { patienceMs: 0 })).toMatchObject({ compared: 0, leftOut: 40 });
  await expect(audited(fillers, { signal: AbortSignal.abort(new Error('nobody waits')) })).rejects.toThrow('nobody waits');
});
