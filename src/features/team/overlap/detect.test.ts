import { expect, test } from 'vitest';
import { madeTask } from '../../../../bench/tasks.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { openTestStore } from '../../../testing/store/store.ts';
import { type CheckedWork, detect } from './detect.ts';
import { Finder } from './finder.ts';
import { indexItem, type WorkItem } from './store.ts';

const NOW = 1_000_000;
const work: WorkItem = {
  id: '',
  kind: 'task',
  ownerId: 'dev_1',
  title: 'Retry failed chunk uploads with exponential backoff',
  scope: 'The upload client waits longer after each failed chunk',
  description: null,
  action: null,
  component: 'client',
  taskType: 'feature',
  status: 'active',
  repo: null,
  files: [],
  closedAt: null,
};
const subject: CheckedWork = { ...work, kind: 'task', developerId: 'dev_2', plannedId: null };

test.each([
  ['finished work', { status: 'cancelled', closedAt: NOW }, { others: 60, inProcess: 10_000 }],
  ['finished work, found through the postings', { status: 'cancelled', closedAt: NOW }, { others: 310, inProcess: 0 }],
  ['work declared to be different', { component: 'docs' }, { others: 60, inProcess: 10_000 }],
] as const)('%s does not displace work that needs a verdict', async (_name, other, { others, inProcess }) => {
  const store = await openTestStore();
  await store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    for (let seed = 0; seed < 5 * others; seed++) await indexItem(tx, { ...work, ...madeTask(seed), files: [], id: `filler_${seed}` });
    for (let n = 0; n < others; n++) await indexItem(tx, { ...work, ...other, id: `other_${n}` });
    await indexItem(tx, { ...work, scope: 'Uploads of chunks that fail are tried again by the client', id: 'task_open' });
  });
  const finder = new Finder(store.reader, { inProcess });
  const found = await detect(store.reader, DEFAULT_WORKSPACE_ID, subject, { finder, vector: undefined, now: NOW });
  expect(found.escalated.map(({ id }) => id)).toEqual(['task_open']);
  expect(found.matches.map(({ score }) => score)).toEqual(found.matches.map(({ score }) => score).toSorted((a, b) => b - a));
});
