import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { SAME_THUMBNAILS, THUMBNAILS, teamApp } from '../../../testing/scenes/team.ts';
import type { ShownTask } from './contract.ts';

type Listed = { items: ShownTask[]; more: boolean; total: number | null };

const asPerson = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true } });

test('people filter tasks by status, owner, repository and workstream, and the count matches exactly', async () => {
  const app = await teamApp();
  const codex = await app.developer('ben', 'codex');
  const session = await app.session(codex, { repo: 'git@github.com:acme/shop.git' });
  const inShop = await app.started({ title: 'Write the manual', session_id: session }, codex);
  const planned = await app.planned({ title: 'Draw a map' });
  const gone = await app.planned({ title: 'Paint the fence' });
  await app.task('cancel', { task_id: gone, reason: 'r' });
  const list = async (filter: object, by = app.ana) => (await app.done('tasks.list', filter, asPerson(by))) as unknown as Listed;
  const ids = async (filter: object, by = app.ana) => {
    const { items, total } = await list(filter, by);
    expect(total).toBe(items.length);
    return items.map(({ task_id }) => task_id).sort();
  };
  expect(await ids({})).toEqual([inShop, planned, gone].sort());
  expect(await ids({ status: ['planned', 'active'] })).toEqual([inShop, planned].sort());
  expect(await ids({ owner: 'ben' })).toEqual([inShop]);
  expect(await ids({ mine: true, status: ['planned'] })).toEqual([planned]);
  expect(await ids({ repository: 'shop' })).toEqual([inShop]);
  expect(await ids({ repository: 'hop' })).toEqual([]);
  const [task] = (await list({ repository: 'shop' })).items;
  expect(task).toMatchObject({ owner: 'ben', agent: 'codex', agent_id: `codex@${codex.principal.developerId}`, workstream_title: 'Write the manual' });
  expect(await ids({ workstream_id: task?.workstream_id })).toEqual([inShop]);
  expect((await app.action('tasks.list', { owner: 'nobody' }, asPerson(app.ana))).body).toMatchObject({ code: 'DEVELOPER_NOT_FOUND' });

  await app.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  expect((await app.action('tasks.list', { owner: 'ben' }, asPerson(app.ana))).body).toMatchObject({ code: 'DEVELOPER_NOT_FOUND' });
  expect((await app.done('tasks.owners', {}, asPerson(app.ana))).items).toEqual([{ name: 'ana' }]);
  const hidden = JSON.stringify(await list({}));
  expect(hidden).toContain('@private');
  expect(hidden).not.toMatch(/ben|codex/);
});

test('pages contain each task exactly once, even if many tasks changed at the same moment', async () => {
  const app = await teamApp();
  for (let number = 1; number <= 25; number++) await app.planned({ title: `Task ${number}` });
  const seen: string[] = [];
  let before: object | undefined;
  for (let page = 0; page < 4; page++) {
    const { items, more, total } = (await app.done('tasks.list', { limit: 7, ...(before && { before }) }, asPerson(app.ana))) as unknown as Listed;
    expect(total).toBe(25);
    expect(more).toBe(page < 3);
    seen.push(...items.map(({ task_id }) => task_id));
    const last = items.at(-1) as ShownTask;
    before = { updated_at: last.updated_at, task_id: last.task_id };
  }
  expect(seen).toHaveLength(25);
  expect(new Set(seen).size).toBe(25);
});

test('a task in any status can be shown by the end of its id, with its overlaps, and its workstream shows the number of tasks', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS, app.ben);
  const id = await app.planned(SAME_THUMBNAILS);
  const show = async () => ((await app.done('tasks.show', { task_id: id.slice(-8) }, asPerson(app.ana))) as { task: ShownTask }).task;
  expect(await show()).toMatchObject({ task_id: id, status: 'planned', overlaps: { all: 1, open: 1 } });
  const workstream = async () => await app.done('workstreams.show', { workstream_id: (await show()).workstream_id }, asPerson(app.ana));
  expect(await workstream()).toMatchObject({ title: SAME_THUMBNAILS.title, owner: 'ana', mine: true, auto_created: true, tasks: { all: 1, open: 1 } });
  await app.task('cancel', { task_id: id, reason: 'r' });
  expect(await show()).toMatchObject({ status: 'cancelled', overlaps: { all: 1, open: 0 } });
  expect(await workstream()).toMatchObject({ status: 'completed', tasks: { all: 1, open: 0 } });
  expect((await app.action('tasks.show', { task_id: 'task_0' }, asPerson(app.ana))).body).toMatchObject({ code: 'TASK_NOT_FOUND' });
});

test('a person who plans despite candidates resolves the warning with a reason, and can also name the repository', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS, app.ben);
  const plan = (args: object) => app.action('tasks.plan', { ...SAME_THUMBNAILS, repo: 'acme/shop', ...args }, asPerson(app.ana));
  expect((await plan({ confirmation_reason: 'r' })).body).toMatchObject({ status: 'blocked', data: { requires_confirm: true } });
  const { data } = (await plan({ confirm: true, confirmation_reason: 'Theirs is for the server' })).body as { data: { warning_id: string; task_id: string } };
  expect(await app.done('overlap.show', { warning_id: data.warning_id }, asPerson(app.ben))).toMatchObject({
    overlap: { status: 'confirmed', reason: 'Theirs is for the server', judged_by: 'ana', subject_id: data.task_id },
  });
  expect((await app.done('tasks.show', { task_id: data.task_id }, asPerson(app.ana))).task).toMatchObject({ repo: 'acme/shop', overlaps: { all: 1, open: 0 } });
  expect(await app.events({ kind: 'warning.confirmed' })).toMatchObject([{ subject: data.warning_id, payload: { planned: data.task_id } }]);
  const again = await app.action('workstreams.plan', { title: SAME_THUMBNAILS.title, confirm: true, confirmation_reason: 'r' }, asPerson(app.ben));
  expect(again.body).toMatchObject({ status: 'ok', data: { workstream_id: expect.stringMatching(/^wst_/) } });
});
