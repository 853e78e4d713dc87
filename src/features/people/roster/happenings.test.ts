import { expect, test } from 'vitest';
import { StoreBusy } from '../../../storage/errors.ts';
import { testApp } from '../../../testing/app.ts';
import { Happenings } from './happenings.ts';

test('only the part of an event that views show is kept, however long the event is', async () => {
  const t = await testApp();
  const { workspace } = t.operator.principal;
  const payload = { title: 'Done', result_summary: 'x'.repeat(5_000), files: Array.from({ length: 100 }, (_, index) => `src/${index}.ts`) };
  await t.app.store.append(workspace, [{ category: 'work', kind: 'task.completed', actor: 'operator', subject: 'task_1', payload }]);
  const [happened] = await new Happenings().read(t.app.store.reader, workspace, t.clock.now());
  expect(happened).toMatchObject({ subject: 'task_1', payload: { title: 'Done', result_summary: expect.stringMatching(/^x{299}…$/) } });
  expect(JSON.stringify(happened).length).toBeLessThan(1_000);
});

test('a failed read does not lose the events that it had read', async () => {
  const t = await testApp();
  const { workspace } = t.operator.principal;
  const { reader } = t.app.store;
  const done = (subject: string) => ({ category: 'work' as const, kind: 'task.completed', actor: 'operator', subject });
  const between = Array.from({ length: 5_000 }, () => ({ category: 'work' as const, kind: 'tick', actor: 'operator' }));
  await t.app.store.append(workspace, [done('task_1'), ...between, done('task_2')]);
  let pages = 0;
  const failing = reader.withPlugin({
    transformQuery: ({ node }) => {
      if (JSON.stringify(node).includes('"payload"') && ++pages === 2) throw new StoreBusy('the database cannot be reached');
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const happenings = new Happenings();
  await expect(happenings.read(failing, workspace, t.clock.now())).rejects.toBeInstanceOf(StoreBusy);
  const told = (await happenings.read(failing, workspace, t.clock.now())).map(({ subject }) => subject);
  expect(told.filter((subject) => subject.startsWith('task_'))).toEqual(['task_1', 'task_2']);
});
