import { expect, test } from 'vitest';
import { testApp } from '../../testing/app.ts';
import { Happenings } from './happenings.ts';

test('of what happened so much is remembered as is told, however long it was said', async () => {
  const t = await testApp();
  const { workspace } = t.operator.principal;
  const payload = { title: 'Done', result_summary: 'x'.repeat(5_000), files: Array.from({ length: 100 }, (_, index) => `src/${index}.ts`) };
  await t.app.store.append(workspace, [{ category: 'work', kind: 'task.completed', actor: 'operator', subject: 'task_1', payload }]);
  const [happened] = await new Happenings().read(t.app.store.reader, workspace, t.clock.now());
  expect(happened).toMatchObject({ subject: 'task_1', payload: { title: 'Done', result_summary: expect.stringMatching(/^x{299}…$/) } });
  expect(JSON.stringify(happened).length).toBeLessThan(1_000);
});
