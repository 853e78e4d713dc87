import { expect, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import { type TeamApp, teamApp } from '../../../testing/scenes/team.ts';

const search = { title: 'Index product names for search', task_type: 'feature', scope: 'The search index of the product catalogue' };
const searchToo = { title: 'Rank search results of the product catalogue', task_type: 'feature', scope: 'Ranking in the product search index' };
const billing = { title: 'Send invoices by mail', task_type: 'feature' };

const workstream = async ({ app }: TeamApp, id: string) =>
  await app.store.reader.selectFrom('workstreams').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const workstreamOf = async ({ app }: TeamApp, task: string) =>
  (await app.store.reader.selectFrom('tasks').select('workstream_id').where('id', '=', task).executeTakeFirstOrThrow()).workstream_id;

async function ownWorkstream(app: TeamApp, title: string, caller = app.ana): Promise<string> {
  const { check_id, candidates } = (await app.workstream('check', { title }, caller)).data;
  const judged = candidates.map(({ id }: { id: string }) => ({ id, same_scope: false, reason: 'other work' }));
  const verdict = judged.length > 0 ? { check_id, scope_verdict: { verdict: 'distinct', candidates: judged } } : {};
  const { status, data } = await app.workstream('start', { title, ...verdict }, caller);
  expect([title, status]).toEqual([title, 'ok']);
  return data.workstream_id;
}

test("a task joins the developer's own open workstream that it names [team.attach.owned-open] [team.attach.stored]", async () => {
  const app = await teamApp();
  const id = await ownWorkstream(app, 'Money matters');
  const planned = await app.planned({ ...search, workstream_id: id });
  expect(await workstreamOf(app, planned)).toBe(id);
  await app.workstream('update', { workstream_id: id, status: 'blocked' });
  await app.task('check', billing);
  expect((await app.task('start', { ...billing, workstream_id: id })).data).toMatchObject({ workstream_id: id });
});

test('a task cannot join a workstream that is planned, completed or owned by somebody else [team.attach.foreign-refused] [team.attach.completed-refused]', async () => {
  const app = await teamApp();
  const foreign = await ownWorkstream(app, 'Of Ben', app.ben);
  const completed = await ownWorkstream(app, 'Finished long ago');
  await app.workstream('complete', { workstream_id: completed, result_summary: 'r' });
  const planned = (await app.workstream('plan', { title: 'Some day' })).data.workstream_id;
  await app.task('check', billing);
  for (const [id, code] of [
    [foreign, 'WORKSTREAM_NOT_FOUND'],
    [completed, 'WORKSTREAM_NOT_OPEN'],
    [planned, 'WORKSTREAM_NOT_OPEN'],
  ]) {
    expect(await app.task('plan', { ...billing, workstream_id: id })).toMatchObject({ status: 'error', data: { code, field: 'workstream_id' } });
    expect(await app.task('start', { ...billing, workstream_id: id })).toMatchObject({ status: 'error', data: { code } });
  }
  expect(await app.app.store.reader.selectFrom('tasks').selectAll().execute()).toEqual([]);
  // A refused start does not use up the check.
  expect((await app.task('start', billing)).status).toBe('ok');
});

test('a task without a workstream joins the best matching open one of its owner [team.attach.best-match]', async () => {
  const app = await teamApp();
  const closed = await ownWorkstream(app, searchToo.title);
  await app.workstream('complete', { workstream_id: closed, result_summary: 'r' });
  await ownWorkstream(app, searchToo.title, app.ben);
  await ownWorkstream(app, 'Product search');
  const mine = await ownWorkstream(app, 'Rank results in the product catalogue');
  await ownWorkstream(app, 'Search index');
  await ownWorkstream(app, 'Paint the bicycle shed');
  expect(await workstreamOf(app, await app.started(searchToo))).toBe(mine);
});

test('if no workstream matches, the server creates a container from the task [team.attach.auto-created] [team.attach.auto-created-event] [team.attach.stored]', async () => {
  const app = await teamApp();
  await ownWorkstream(app, 'Paint the bicycle shed');
  const id = await app.started(search);
  const container = await workstream(app, (await workstreamOf(app, id)) as string);
  expect(container).toMatchObject({
    auto_created: 1,
    status: 'active',
    title: search.title,
    description: search.scope,
    developer_id: app.ana.principal.developerId,
  });
  expect(await app.events({ kind: 'workstream.auto_created' })).toEqual([expect.objectContaining({ subject: container.id })]);
  const described = await app.started({ ...billing, description: 'By SMTP' });
  expect((await workstream(app, (await workstreamOf(app, described)) as string)).description).toBe('By SMTP');
});

test('a container is never a match, but its tasks are [team.container.not-scored]', async () => {
  const app = await teamApp();
  const id = await app.started(search, app.ben);
  const check = await app.task('check', search);
  expect(check.data.matches.map((match: { id: string }) => match.id)).toEqual([id]);
  expect((await app.workstream('check', { title: search.title })).data.matches.map((match: { id: string }) => match.id)).toEqual([id]);
  const second = await app.started({ ...search, title: 'Index the product names for searching' });
  const audit = await app.team('audit_parallel_work');
  expect(audit.data.conflicts.map(({ first, second: other }: { first: { id: string }; second: { id: string } }) => [first.id, other.id].sort())).toEqual([
    [id, second].sort(),
  ]);
});

test("a container is completed with its last open task, but a developer's workstream is not [team.container.completes-itself]", async () => {
  const app = await teamApp();
  const first = await app.started(search);
  const container = (await workstreamOf(app, first)) as string;
  const second = await app.planned({ ...billing, workstream_id: container });
  await app.task('complete', { task_id: first, result_summary: 'r' });
  expect((await workstream(app, container)).status).toBe('active');
  await app.task('cancel', { task_id: second, reason: 'r' });
  expect((await workstream(app, container)).status).toBe('completed');
  expect(await app.events({ kind: 'workstream.completed' })).toEqual([
    expect.objectContaining({ subject: container, payload: expect.objectContaining({ automatic: true }) }),
  ]);
  const own = await ownWorkstream(app, 'Kept by its developer');
  const last = await app.planned({ ...billing, workstream_id: own });
  await app.task('cancel', { task_id: last, reason: 'r' });
  expect((await workstream(app, own)).status).toBe('active');
});

test('stored tasks without a workstream get one when the server starts [team.attach.backfill]', async () => {
  const app = await teamApp();
  const id = await app.planned(search);
  const before = await workstreamOf(app, id);
  await app.app.store.write('ws_default', async (tx) => {
    await tx.db.updateTable('tasks').set({ workstream_id: null }).execute();
    await tx.db.deleteFrom('workstreams').execute();
  });
  const { database, clock } = app;
  await testApp({ database, clock });
  const after = await workstreamOf(app, id);
  expect(after).toMatch(/^wst_/);
  expect(after).not.toBe(before);
  expect((await app.events({ kind: 'workstream.auto_created' })).at(-1)).toMatchObject({ actor: 'server', subject: after });
  await testApp({ database, clock });
  expect(await workstreamOf(app, id)).toBe(after);
});

test('a container that the server creates for a finished task is completed immediately', async () => {
  const app = await teamApp();
  const id = await app.planned(search);
  await app.task('cancel', { task_id: id, reason: 'r' });
  await app.app.store.write('ws_default', async (tx) => {
    await tx.db.updateTable('tasks').set({ workstream_id: null }).execute();
  });
  await testApp({ database: app.database, clock: app.clock });
  expect(await workstream(app, (await workstreamOf(app, id)) as string)).toMatchObject({ auto_created: 1, status: 'completed' });
});

test('work that moves to another agent of the same developer stays in its workstream', async () => {
  const app = await teamApp();
  const codex = await app.developer('ana', 'codex');
  const own = await ownWorkstream(app, 'Paint the bicycle shed');
  const id = await app.planned({ ...search, workstream_id: own });
  const { data } = await app.call('covibe_coordination', 'handoff', { to: 'codex@ana', message: 'go on', task_ids: [id] });
  expect((await app.call('covibe_coordination', 'accept_handoff', { handoff_id: data.handoff_id }, codex)).data.task_ids).toEqual([id]);
  expect(await workstreamOf(app, id)).toBe(own);
});
