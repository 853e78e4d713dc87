import { expect, test } from 'vitest';
import type { Store } from '../../../storage/open.ts';
import { openTestStore } from '../../../testing/store/store.ts';
import { indexItem, indexItems, setItemStatus, setItemsStatus, type WorkItem } from './store.ts';

const item = (id: string, title: string, more: Partial<WorkItem> = {}): WorkItem => ({
  id,
  kind: 'workflow_task',
  ownerId: 'dev_ana',
  title,
  scope: null,
  description: null,
  action: null,
  component: null,
  taskType: null,
  status: 'planned',
  repo: null,
  files: [],
  closedAt: null,
  ...more,
});

async function told(store: Store) {
  const all = (table: 'overlap_terms' | 'overlap_postings' | 'overlap_items' | 'overlap_state') => store.reader.selectFrom(table).selectAll().execute();
  const rows = (found: object[]) => found.map((row) => JSON.stringify({ ...row, revision: null, updated_at: null })).sort();
  return {
    terms: rows(await all('overlap_terms')),
    postings: rows(await all('overlap_postings')),
    items: rows(await all('overlap_items')),
    state: rows(await all('overlap_state')),
  };
}

test('indexing many new and known items together gives the same index as indexing them one by one, with a unique revision for each', async () => {
  const before = [item('a', 'Cache thumbnail images'), item('b', 'Export billing reports')];
  const after = [
    item('c', 'Cache images of the shop', { files: ['src/a.ts'] }),
    item('a', 'Cache thumbnails of the gallery'),
    item('d', 'Images are cached', { status: 'active' }),
    item('b', 'Export billing reports', { status: 'completed', closedAt: 5 }),
  ];
  const single = await openTestStore();
  await single.write('ws_default', async (tx) => {
    for (const one of [...before, ...after]) await indexItem(tx, one);
    await setItemStatus(tx, 'a', 'cancelled', 7);
    await setItemStatus(tx, 'd', 'cancelled', 7);
  });
  const bulk = await openTestStore();
  await bulk.write('ws_default', async (tx) => {
    await indexItems(tx, before);
    await indexItems(tx, after);
    await setItemsStatus(tx, ['a', 'unknown', 'd'], 'cancelled', 7);
  });
  expect(await told(bulk)).toEqual(await told(single));
  const rows = await bulk.reader.selectFrom('overlap_items').select(['id', 'revision']).execute();
  const state = await bulk.reader.selectFrom('overlap_state').select('revision').executeTakeFirstOrThrow();
  expect(new Set(rows.map(({ revision }) => revision)).size).toBe(4);
  expect(Math.max(...rows.map(({ revision }) => revision))).toBeLessThanOrEqual(state.revision);
  const revision = (id: string) => rows.find((row) => row.id === id)?.revision as number;
  // The last change has the highest revision.
  expect(Math.min(revision('a'), revision('d'))).toBeGreaterThan(Math.max(revision('b'), revision('c')));
});

test('indexing an empty list changes nothing', async () => {
  const store = await openTestStore();
  await store.write('ws_default', async (tx) => {
    await indexItems(tx, []);
    await setItemsStatus(tx, ['a'], 'cancelled');
  });
  expect(await told(store)).toEqual({ terms: [], postings: [], items: [], state: [] });
});
