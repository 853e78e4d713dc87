import { expect, test } from 'vitest';
import { madeTask, rephrased } from '../../../../bench/tasks.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { Db } from '../../../storage/engine.ts';
import { openTestStore } from '../../../testing/store/store.ts';
import { Finder } from './finder.ts';
import type { Query, Scored } from './score.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { forgetItems, indexItem, readState, setItemStatus, type WorkItem } from './store.ts';
import { analyse } from './terms.ts';

const item = (id: string, words: Partial<WorkItem>): WorkItem => ({
  id,
  kind: 'task',
  ownerId: 'dev_1',
  title: 't',
  scope: null,
  description: null,
  action: null,
  component: null,
  taskType: 'feature',
  status: 'active',
  repo: null,
  files: [],
  closedAt: null,
  ...words,
});
const query = (title: string, scope: string | null = null, files: readonly string[] = []) => ({ analysed: analyse({ title, scope }), files });

async function search(finder: Finder, db: Db, asked: Query, workspace = DEFAULT_WORKSPACE_ID): Promise<Scored[]> {
  const state = await readState(db, workspace);
  return state ? await finder.search(db, state, asked, { settings: DEFAULT_SETTINGS, limit: 20, atLeast: 0, accept: () => true }) : [];
}

async function filled(count: number) {
  const store = await openTestStore();
  const index = (more: readonly WorkItem[]) =>
    store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
      for (const one of more) await indexItem(tx, one);
    });
  await index(Array.from({ length: count }, (_, seed) => item(`task_${seed}`, { ...madeTask(seed), files: [] })));
  return { store, index };
}

test('a search through stored postings finds the same items with the same scores as a search in memory', async () => {
  const { store } = await filled(150);
  const inMemory = new Finder(store.reader);
  const inStore = new Finder(store.reader, { inProcess: 0 });
  for (let seed = 0; seed < 150; seed += 10) {
    const { title, scope } = rephrased(madeTask(seed), seed);
    const [one, other] = await Promise.all([inMemory, inStore].map((finder) => search(finder, store.reader, query(title, scope))));
    const strong = (found: typeof one) => found?.filter(({ score }) => score >= DEFAULT_SETTINGS.warn).map(({ id, score }) => [id, Math.round(score * 1e6)]);
    expect(strong(one)).toEqual(strong(other));
    expect(one?.[0]?.id).toBe(`task_${seed}`);
  }
});

test('above the limit for memory, items that share a file are found too', async () => {
  const { store, index } = await filled(20);
  await index([item('task_files', { title: 'entirely unrelated words', files: ['src/a.ts'] })]);
  await store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    await tx.db
      .insertInto('file_marks')
      .values({
        workspace_id: tx.workspace,
        path: 'src/a.ts',
        source: 'task',
        source_id: 'task_files',
        developer_id: 'dev_1',
        repo: null,
        action: null,
        label: null,
        marked_at: tx.now,
        expires_at: null,
      })
      .execute();
  });
  const found = await search(new Finder(store.reader, { inProcess: 0 }), store.reader, query('something else', null, ['src/a.ts']));
  expect(found.map(({ id, textualEvidence }) => [id, textualEvidence])).toEqual([['task_files', false]]);
});

test('a search inside a transaction sees its writes; a rollback leaves nothing behind', async () => {
  const { store } = await filled(5);
  const finder = new Finder(store.reader);
  const words = 'quantum flux capacitor calibration';
  const found = (db: Db) => search(finder, db, query(words));
  await finder.prepare(DEFAULT_WORKSPACE_ID);
  const refused = store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    await indexItem(tx, item('task_new', { title: words }));
    expect((await found(tx.db)).map(({ id }) => id)).toEqual(['task_new']);
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  await finder.prepare(DEFAULT_WORKSPACE_ID);
  expect(await found(store.reader)).toEqual([]);
  expect(await store.reader.selectFrom('overlap_postings').select('term').where('term', '=', 'quantum').execute()).toEqual([]);
});

test('the counts of terms and items follow added, changed and removed items', async () => {
  const { store, index } = await filled(0);
  await index([item('a', { title: 'alpha beta' }), item('b', { title: 'beta gamma' })]);
  await index([item('a', { title: 'alpha delta' })]);
  const counts = async () => Object.fromEntries((await store.reader.selectFrom('overlap_terms').selectAll().execute()).map(({ term, items }) => [term, items]));
  const items = async () => (await store.reader.selectFrom('overlap_state').selectAll().executeTakeFirstOrThrow()).items;
  expect(Object.values(await counts()).sort()).toEqual([1, 1, 1, 1]);
  expect(await items()).toBe(2);
  await store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    await setItemStatus(tx, 'b', 'completed', 1_000);
    await forgetItems(tx, 2_000, 10);
  });
  expect(Object.keys(await counts())).toHaveLength(2);
  expect(await items()).toBe(1);
  expect(await store.reader.selectFrom('overlap_postings').selectAll().execute()).toHaveLength(2);
});

test('an item with postings from an older version can be changed and removed like any other', async () => {
  const { store, index } = await filled(0);
  await index([item('a', { title: 'alpha beta', description: Array.from({ length: 40 }, (_, n) => `word${n}`).join(' ') })]);
  await store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    const posted = await tx.db.selectFrom('overlap_postings').select('term').execute();
    const { terms } = analyse({ title: 'alpha beta', description: Array.from({ length: 40 }, (_, n) => `word${n}`).join(' ') });
    const other = terms.find((term) => !posted.some((row) => row.term === term)) as string;
    await tx.db.insertInto('overlap_postings').values({ workspace_id: tx.workspace, term: other, item: 1, weight: 1 }).execute();
  });
  await index([item('a', { title: 'gamma delta' })]);
  expect(await store.reader.selectFrom('overlap_postings').select('term').execute()).toHaveLength(2);
});

test('the most recently used workspaces stay in memory, and the others are read again when needed', async () => {
  const { store } = await filled(30);
  const others = ['ws_1', 'ws_2', 'ws_3'];
  for (const workspace of others) {
    await store.write(workspace, async (tx) => {
      for (let seed = 0; seed < 30; seed++) await indexItem(tx, item(`${workspace}_${seed}`, { ...madeTask(seed), files: [] }));
    });
  }
  const finder = new Finder(store.reader, { keptItems: 70 });
  for (const workspace of [DEFAULT_WORKSPACE_ID, ...others, DEFAULT_WORKSPACE_ID, ...others]) {
    await finder.prepare(workspace);
    const { title, scope } = madeTask(7);
    const [best] = await search(finder, store.reader, query(title, scope), workspace);
    expect(best?.id).toBe(workspace === DEFAULT_WORKSPACE_ID ? 'task_7' : `${workspace}_7`);
    expect(finder.kept).toBeLessThanOrEqual(70);
  }
});

test('a word that has become common weighs less, even with cached frequencies', async () => {
  const { store, index } = await filled(50);
  const finder = new Finder(store.reader, { inProcess: 0 });
  const score = async () => (await search(finder, store.reader, query('zephyr quokka')))[0]?.score as number;
  await index([item('z', { title: 'zephyr quokka' })]);
  const before = await score();
  await index(Array.from({ length: 1_000 }, (_, n) => item(`zephyr_${n}`, { title: `zephyr of ${n}` })));
  expect(await score()).toBeLessThan(before);
});
