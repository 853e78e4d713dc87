import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { teamApp } from '../../../testing/scenes/team.ts';

test('a busy week is counted completely and listed in part', async () => {
  const app = await teamApp();
  const actor = app.ben.principal.actor;
  const event = (kind: string, n: number) => ({ category: 'work', kind, actor, subject: `subject_${n}`, payload: { title: `Nr ${n}`, compared: n } }) as const;
  const before = Array.from({ length: 10 }, (_, n) => event('task.completed', n));
  await app.app.store.append(DEFAULT_WORKSPACE_ID, before);
  app.clock.advance(8 * 24 * 3_600_000);
  const week = Array.from({ length: 2_500 }, (_, n) => event(n % 2 === 0 ? 'task.completed' : 'parallel_work.audit', n));
  await app.app.store.append(DEFAULT_WORKSPACE_ID, week);
  const { data } = await app.team('generate_weekly_summary');
  expect(data.events).toMatchObject({ 'task.completed': 1_250, 'parallel_work.audit': 1_250 });
  expect(data.completed).toHaveLength(200);
  expect(data.completed.at(-1)).toMatchObject({ id: 'subject_2498', title: 'Nr 2498', owner: 'ben' });
  expect(data.parallel_audits).toHaveLength(200);
  expect(data.parallel_audits.at(-1)).toMatchObject({ compared: 2_499 });
  expect(await app.events({ kind: 'weekly_summary.generated' })).toEqual([expect.objectContaining({ payload: expect.objectContaining({ completed: 200 }) })]);
});
