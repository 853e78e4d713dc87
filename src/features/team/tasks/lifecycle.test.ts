import { expect, test } from 'vitest';
import { type TeamApp, teamApp } from '../../../testing/scenes/team.ts';

const login = { title: 'Rate limit the login endpoint', task_type: 'feature', scope: 'Five attempts a minute for each address' };
const pdf = { title: 'Export invoices as PDF', task_type: 'feature' };

const taskRow = async ({ app }: TeamApp, id: string) => await app.store.reader.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

test('covibe_task has exactly seven operations [team.surface.task-operations]', async () => {
  const app = await teamApp();
  const schema = app.app.registry.tool('covibe_task')?.inputSchema as { properties: { operation: { enum: string[] } }; required: string[] };
  expect(schema.properties.operation.enum).toEqual(['check', 'plan', 'start', 'start_planned', 'update', 'complete', 'cancel']);
  expect(schema.required).toEqual(['operation']);
  expect(await app.task('finish', { task_id: 'x' })).toMatchObject({ status: 'error', data: { code: 'INVALID_INPUT', field: 'operation' } });
  expect(await app.call('covibe_task', null, { title: 'x' })).toMatchObject({ status: 'error', data: { field: 'operation' } });
});

test('check, plan and start require a task_type; start_planned does not accept one [team.task-type.required] [team.task-type.values] [team.task-type.both-schemas] [team.start-planned.no-task-type]', async () => {
  const app = await teamApp();
  for (const operation of ['check', 'plan', 'start']) {
    expect(await app.task(operation, { title: 'x' })).toMatchObject({ status: 'error', data: { code: 'INVALID_INPUT', field: 'task_type' } });
    expect(await app.task(operation, { title: 'x', task_type: 'wish' })).toMatchObject({ status: 'error', data: { field: 'task_type' } });
  }
  expect(await app.task('start_planned', { planned_task_id: 'x', task_type: 'bug' })).toMatchObject({ status: 'error', data: { field: 'task_type' } });
  const schema = app.app.registry.tool('covibe_task')?.inputSchema as { properties: { task_type: { enum: string[]; description: string } } };
  expect(schema.properties.task_type.enum).toEqual(['feature', 'bug', 'refactor', 'chore', 'docs', 'test', 'spike']);
  expect(schema.properties.task_type.description).toContain('Required by check, plan, start.');
});

test('action and component are bounded [team.check.action-values] [team.check.component-limit]', async () => {
  const app = await teamApp();
  for (const operation of ['check', 'plan', 'start']) {
    expect(await app.task(operation, { ...login, action: 'destroy' })).toMatchObject({ status: 'error', data: { field: 'action' } });
    expect(await app.task(operation, { ...login, component: 'x'.repeat(41) })).toMatchObject({ status: 'error', data: { field: 'component' } });
  }
  for (const action of ['create', 'modify', 'remove', 'fix', 'audit']) {
    expect((await app.task('check', { ...login, action, component: 'x'.repeat(40) })).status).toBe('ok');
  }
});

test('planned work is stored but not started [team.plan.status-planned] [team.plan.event] [team.plan.shape]', async () => {
  const app = await teamApp();
  const plan = await app.task('plan', { ...login, description: 'd', action: 'create', component: 'server', priority: 'high', target_files: ['src/login.ts'] });
  expect(plan).toMatchObject({ status: 'ok', data: { status: 'planned', task_id: expect.stringMatching(/^task_/) } });
  expect(await taskRow(app, plan.data.task_id)).toMatchObject({ status: 'planned', priority: 'high', action: 'create', component: 'server', started_at: null });
  expect(await app.events({ kind: 'task.planned' })).toEqual([expect.objectContaining({ subject: plan.data.task_id })]);
  const state = await app.team('state');
  expect(state.data.active_work).toEqual([]);
  expect(state.data.planned_work).toEqual([expect.objectContaining({ task_id: plan.data.task_id })]);
});

test('a plan that overlaps other work returns a warning and is stored anyway [team.plan.overlap-warns]', async () => {
  const app = await teamApp();
  await app.started(login, app.ben);
  const plan = await app.task('plan', { title: 'Limit the rate of login attempts', task_type: 'feature' });
  expect(plan).toMatchObject({
    status: 'warning',
    data: { status: 'planned', warning_id: expect.stringMatching(/^warn_/), matches: [expect.objectContaining({ owner: 'ben' })] },
  });
  const { items } = await app.done('overlap.list', {});
  expect(items).toEqual([expect.objectContaining({ warning_id: plan.data.warning_id, subject_id: plan.data.task_id })]);
});

test('planned work keeps its id when it starts, and requires a check that named this id [team.start-planned.activates] [team.start-planned.needs-check] [team.start-planned.shape]', async () => {
  const app = await teamApp();
  const id = await app.planned(login);
  expect(await app.task('start_planned', { planned_task_id: id })).toMatchObject({ status: 'blocked', data: { code: 'CHECK_REQUIRED' } });
  await app.task('check', login);
  expect((await app.task('start_planned', { planned_task_id: id })).data.code).toBe('CHECK_REQUIRED');
  await app.task('check', { ...login, title: 'Something else', planned_task_id: id });
  expect((await app.task('start_planned', { planned_task_id: id })).data.code).toBe('CHECK_REQUIRED');
  expect((await taskRow(app, id)).status).toBe('planned');
  const check = await app.task('check', { ...login, planned_task_id: id });
  expect(check.data.candidates).toEqual([]);
  expect(await app.task('start_planned', { planned_task_id: id })).toMatchObject({ status: 'ok', data: { task_id: id, status: 'active' } });
  expect(await taskRow(app, id)).toMatchObject({ status: 'active', task_type: 'feature' });
});

test('the start of planned work compares it again and records this comparison [team.start-planned.recheck] [team.start-planned.recheck-event] [team.start-planned.new-candidates] [overlap.verdict.planned-same]', async () => {
  const app = await teamApp();
  const id = await app.planned(login);
  const check = await app.task('check', { ...login, planned_task_id: id });
  expect(check.data.requires_verdict).toBe(false);
  const first = await app.started({ title: 'Rate limit login attempts at the login endpoint', task_type: 'feature' }, app.ben);
  const before = (await app.events({ kind: 'task.checked' })).length;
  const blocked = await app.task('start_planned', { planned_task_id: id });
  expect(blocked).toMatchObject({
    status: 'blocked',
    data: { code: 'NEW_OVERLAP', check_id: expect.stringMatching(/^chk_/), candidates: [expect.objectContaining({ id: first })] },
  });
  expect(blocked.data.check_id).not.toBe(check.data.check_id);
  expect((await app.events({ kind: 'task.checked' })).length).toBe(before + 1);
  expect((await taskRow(app, id)).status).toBe('planned');
  const verdict = { verdict: 'distinct', candidates: [{ id: first, same_scope: false, reason: 'mine is for the admin login' }] };
  const start = await app.task('start_planned', { planned_task_id: id, check_id: blocked.data.check_id, scope_verdict: verdict });
  expect(start.status).toBe('ok');
  expect((await app.events({ kind: 'task.checked' })).length).toBe(before + 2);
  expect((await app.events({ kind: 'scope.judged' })).at(-1)).toMatchObject({ subject: id });
});

test('a legacy confirmation also resolves the warning of planned work [overlap.verdict.planned-same]', async () => {
  const app = await teamApp();
  await app.done('overlap.configure', { warn: 0.5, escalate: 90 });
  const id = await app.planned(login);
  await app.started({ title: 'Rate limit the login form', task_type: 'feature' }, app.ben);
  const check = await app.task('check', { ...login, planned_task_id: id });
  const start = await app.task('start_planned', { planned_task_id: id, warning_id: check.data.warning_id, confirmation_reason: 'the form is separate' });
  expect(start.status).toBe('ok');
  expect(await app.events({ kind: 'warning.confirmed' })).toHaveLength(1);
});

test('the warning of a plan is resolved by the verdict of its start, or when the plan is cancelled [overlap.verdict.planned-same]', async () => {
  const app = await teamApp();
  await app.started(login, app.ben);
  const words = { title: 'Limit the rate of login attempts', task_type: 'feature' };
  const [started, dropped] = [await app.task('plan', words), await app.task('plan', { ...words, title: 'Login attempts with a rate limit' })];
  await app.task('cancel', { task_id: dropped.data.task_id, reason: 'Ben does it' });
  const planned_task_id = started.data.task_id;
  const check = await app.task('check', { ...words, planned_task_id });
  const candidates = check.data.candidates.map(({ id }: { id: string }) => ({ id, same_scope: false, reason: 'another form' }));
  const answer = { check_id: check.data.check_id, scope_verdict: { verdict: 'distinct', candidates } };
  expect((await app.task('start_planned', { planned_task_id, ...answer })).status).toBe('ok');
  const { items } = (await app.done('overlap.list', {})) as { items: { warning_id: string; status: string }[] };
  expect(Object.fromEntries(items.map(({ warning_id, status }) => [warning_id, status]))).toEqual({
    [started.data.warning_id]: 'judged',
    [check.data.warning_id]: 'judged',
    [dropped.data.warning_id]: 'dismissed',
  });
  expect((await app.team('state')).data).toMatchObject({ overlap_warnings: [], next_actions: [expect.objectContaining({ about: planned_task_id })] });
});

test('the owner can edit planned work, which stays planned [team.update.planned-fields] [team.update.planned-stays-planned] [team.update.planned-event] [team.update.shape]', async () => {
  const app = await teamApp();
  const id = await app.planned(login);
  const edit = { title: 'Throttle logins', description: 'long', scope: 'all logins', action: 'fix', component: 'db', priority: 'urgent', task_type: 'bug' };
  expect(await app.task('update', { task_id: id, ...edit })).toMatchObject({
    status: 'ok',
    data: { status: 'planned', changed: expect.arrayContaining(Object.keys(edit)) },
  });
  expect(await taskRow(app, id)).toMatchObject({ ...edit, status: 'planned' });
  expect(await app.events({ kind: 'task.planned_updated' })).toHaveLength(1);
  expect(await app.task('update', { task_id: id, status: 'active' })).toMatchObject({ status: 'error', data: { field: 'status' } });
  expect(await app.task('update', { task_id: id })).toMatchObject({ status: 'error', data: { code: 'INVALID_INPUT' } });
});

test('edited work is found by its new words and not by the old ones [team.update.re-embeds]', async () => {
  const app = await teamApp();
  const id = await app.planned(login, app.ben);
  await app.task('update', { task_id: id, title: 'Render thumbnails for uploaded videos', scope: 'Thumbnails of videos in the gallery' }, app.ben);
  const found = async (title: string) => (await app.task('check', { title, task_type: 'feature' })).data.matches.map((match: { id: string }) => match.id);
  expect(await found('Video thumbnails in the gallery')).toEqual([id]);
  expect(await found('Rate limit the login endpoint')).toEqual([]);
  const words = 'Compress the nightly database dumps with zstd';
  for (const field of ['scope', 'description']) {
    const other = await app.planned({ title: 'Nocturnal housekeeping', task_type: 'chore' }, app.ben);
    expect(await found(words)).toEqual([]);
    await app.task('update', { task_id: other, [field]: words }, app.ben);
    expect([field, await found(words)]).toEqual([field, [other]]);
    await app.task('update', { task_id: other, [field]: 'Nothing of that' }, app.ben);
  }
});

test('started work accepts status active or blocked, and no edits [team.update.status-values] [team.update.started-field-edit]', async () => {
  const app = await teamApp();
  const id = await app.started(login);
  expect((await app.task('update', { task_id: id, status: 'blocked' })).data).toMatchObject({ status: 'blocked' });
  expect((await app.task('update', { task_id: id, status: 'active' })).data).toMatchObject({ status: 'active' });
  for (const status of ['planned', 'completed', 'cancelled']) {
    expect(await app.task('update', { task_id: id, status })).toMatchObject({ status: 'error', data: { field: 'status' } });
  }
  const edit = await app.task('update', { task_id: id, title: 'Other words', status: 'blocked' });
  expect(edit).toMatchObject({ status: 'warning', data: { code: 'FIELDS_FIXED', status: 'active' } });
  expect(await taskRow(app, id)).toMatchObject({ title: login.title, status: 'active' });
});

test('completion requires a result_summary, which also serves as summary, and is idempotent [team.complete.result-summary-required] [team.complete.summary-falls-back] [team.complete.idempotent] [team.complete.shape]', async () => {
  const app = await teamApp();
  const id = await app.started(login);
  expect(await app.task('complete', { task_id: id })).toMatchObject({ status: 'error', data: { field: 'result_summary' } });
  expect(await app.task('complete', { task_id: id, result_summary: 'limited' })).toMatchObject({ status: 'ok', data: { status: 'completed' } });
  expect(await taskRow(app, id)).toMatchObject({ result_summary: 'limited', summary: 'limited' });
  expect(await app.task('complete', { task_id: id, result_summary: 'again' })).toMatchObject({ status: 'warning', data: { code: 'ALREADY_COMPLETED' } });
  expect(await taskRow(app, id)).toMatchObject({ result_summary: 'limited' });
  expect(await app.events({ kind: 'task.completed' })).toHaveLength(1);
  const other = await app.started(pdf);
  await app.task('complete', { task_id: other, result_summary: 'long', summary: 'short' });
  expect(await taskRow(app, other)).toMatchObject({ result_summary: 'long', summary: 'short' });
});

test('completed work cannot be changed or reopened [team.update.completed-refused]', async () => {
  const app = await teamApp();
  const id = await app.started(login);
  await app.task('complete', { task_id: id, result_summary: 'done' });
  for (const change of [{ status: 'active' }, { title: 'new' }]) {
    expect(await app.task('update', { task_id: id, ...change })).toMatchObject({ status: 'error', data: { code: 'INVALID_TRANSITION', from: 'completed' } });
  }
  expect((await app.task('cancel', { task_id: id, reason: 'r' })).data.code).toBe('INVALID_TRANSITION');
  expect((await taskRow(app, id)).status).toBe('completed');
});

test('planned, active and blocked work can be cancelled with a recorded reason [team.cancel.states] [team.cancel.reason-required] [team.cancel.event] [team.cancel.shape]', async () => {
  const app = await teamApp();
  const planned = await app.planned(login);
  const active = await app.started(pdf);
  const blocked = await app.started({ title: 'Draw a map of the warehouse', task_type: 'feature' });
  await app.task('update', { task_id: blocked, status: 'blocked' });
  expect(await app.task('cancel', { task_id: planned })).toMatchObject({ status: 'error', data: { field: 'reason' } });
  for (const id of [planned, active, blocked]) {
    expect(await app.task('cancel', { task_id: id, reason: 'not needed' })).toMatchObject({ status: 'ok', data: { status: 'cancelled' } });
  }
  const events = await app.events({ kind: 'task.cancelled' });
  expect(events.map(({ subject }) => subject)).toEqual([planned, active, blocked]);
  expect(events[0]?.payload).toMatchObject({ reason: 'not needed' });
  const { data } = await app.team('state');
  expect([...data.planned_work, ...data.active_work]).toEqual([]);
});

test("nobody can change another developer's task [team.update.owner-only] [team.complete.owner-only] [team.cancel.owner-only] [team.start-planned.owner-only]", async () => {
  const app = await teamApp();
  const active = await app.started(login, app.ben);
  const planned = await app.planned(pdf, app.ben);
  const unknown = (await app.task('update', { task_id: 'task_none', status: 'blocked' })).message.replace('task_none', active);
  for (const [operation, args] of [
    ['update', { task_id: active, status: 'blocked' }],
    ['update', { task_id: planned, title: 'mine' }],
    ['complete', { task_id: active, result_summary: 'r' }],
    ['cancel', { task_id: active, reason: 'r' }],
    ['start_planned', { planned_task_id: planned }],
    ['check', { ...pdf, planned_task_id: planned }],
  ] as const) {
    expect(await app.task(operation, args)).toMatchObject({ status: 'error', data: { code: 'TASK_NOT_FOUND' } });
  }
  // The refusal does not reveal whether the task exists.
  expect((await app.task('update', { task_id: active, status: 'blocked' })).message).toBe(unknown);
  expect(await taskRow(app, active)).toMatchObject({ status: 'active' });
  expect(await taskRow(app, planned)).toMatchObject({ status: 'planned', title: pdf.title });
});

test('target_files are repository paths, at most 50, stored with the task [team.target-files.limit] [team.target-files.repo-relative] [team.target-files.stored]', async () => {
  const app = await teamApp();
  const many = Array.from({ length: 51 }, (_, n) => `src/${n}.ts`);
  for (const operation of ['check', 'plan', 'start']) {
    expect(await app.task(operation, { ...login, target_files: many })).toMatchObject({ status: 'error', data: { field: 'target_files' } });
    for (const path of ['/etc/passwd', '../up.ts', 'a/../b.ts', 'C:\\x.ts', 'a\\b.ts', './a.ts', 'a//b.ts', 'dir/', '~/x']) {
      expect(await app.task(operation, { ...login, target_files: ['ok.ts', path] })).toMatchObject({ status: 'error', data: { field: 'target_files[1]' } });
    }
  }
  const most = { ...login, target_files: many.slice(0, 50) };
  for (const id of [await app.planned(most), await app.started(most)]) expect(JSON.parse((await taskRow(app, id)).target_files)).toEqual(most.target_files);
});

test('check, plan and start name the owner of shared files and are not blocked by them [team.file-conflicts.open-tasks] [team.file-conflicts.fields] [team.file-conflicts.inform-only]', async () => {
  const app = await teamApp();
  const other = await app.started({ ...pdf, action: 'create', target_files: ['src/a.ts', 'src/b.ts', 'src/c.ts'] }, app.ben);
  const mine = { ...login, target_files: ['src/a.ts', 'src/b.ts', 'src/z.ts'] };
  const conflict = { source: 'task', owner: 'ben', same_developer: false, files: ['src/a.ts', 'src/b.ts'], action: 'create', source_id: other };
  const check = await app.task('check', mine);
  expect(check.data.file_conflicts).toEqual([expect.objectContaining(conflict)]);
  expect(check.data.requires_verdict).toBe(false);
  const start = await app.task('start', mine);
  expect(start.data.file_conflicts).toEqual([expect.objectContaining(conflict)]);
  expect(start.message).toBe('Started. Others are working on some of its files: see `file_conflicts`.');
  const plan = await app.task('plan', { title: 'Write release notes', task_type: 'docs', target_files: ['src/c.ts'] });
  expect(plan.data.file_conflicts).toEqual([expect.objectContaining({ owner: 'ben', files: ['src/c.ts'] })]);
  const planned = { planned_task_id: plan.data.task_id };
  await app.task('check', { title: 'Write release notes', task_type: 'docs', ...planned });
  expect(await app.task('start_planned', planned)).toMatchObject({ message: start.message, data: { file_conflicts: plan.data.file_conflicts } });
  await app.task('complete', { task_id: other, result_summary: 'r' }, app.ben);
  expect((await app.task('check', { title: 'Another thing entirely', task_type: 'chore', target_files: ['src/c.ts'] })).data.file_conflicts).toEqual([
    expect.objectContaining({ owner: 'ana', same_developer: true }),
  ]);
});

test('dirty and unpushed files of a recent snapshot are reported as file conflicts too [team.file-conflicts.snapshots]', async () => {
  const app = await teamApp();
  const session = await app.session(app.ben);
  const snapshot = { session_id: session, repo: 'acme/app', branch: 'main', dirty_files: ['src/dirty.ts'], unpushed_files: ['src/unpushed.ts'] };
  await app.call('covibe_session', 'snapshot', snapshot, app.ben);
  const check = await app.task('check', { ...login, target_files: ['src/dirty.ts', 'src/unpushed.ts', 'src/x.ts'] });
  expect(check.data.file_conflicts).toEqual([expect.objectContaining({ source: 'snapshot', owner: 'ben', files: ['src/dirty.ts', 'src/unpushed.ts'] })]);
  app.clock.advance(25 * 3_600_000);
  expect((await app.task('check', { ...login, target_files: ['src/dirty.ts'] })).data.file_conflicts).toEqual([]);
});

test('matches and file conflicts do not name a private developer [team.file-conflicts.private]', async () => {
  const app = await teamApp();
  await app.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  await app.started({ ...login, target_files: ['src/a.ts'] }, app.ben);
  const check = await app.task('check', { ...login, title: 'Rate limit login at the endpoint', target_files: ['src/a.ts'] });
  expect(check.data.file_conflicts).toEqual([expect.objectContaining({ owner: '@private' })]);
  expect(check.data.candidates).toEqual([expect.objectContaining({ owner: '@private' })]);
  expect(JSON.stringify([check, await app.team('state')])).not.toMatch(new RegExp(`ben|${app.ben.principal.developerId}`));
});

test('a finished task is compared for fourteen days and no longer [team.check.compared-work] [team.check.completed-window] [team.check.older-completed]', async () => {
  const app = await teamApp();
  const old = await app.started(login, app.ben);
  await app.task('complete', { task_id: old, result_summary: 'r' }, app.ben);
  const check = await app.task('check', login);
  expect(check).toMatchObject({
    status: 'ok',
    data: { requires_verdict: false, matches: [expect.objectContaining({ id: old, status: 'completed', level: 'warn' })] },
  });
  app.clock.advance(14 * 24 * 3_600_000);
  expect((await app.task('check', login)).data.matches).toHaveLength(1);
  app.clock.advance(1);
  expect(await app.task('check', login)).toMatchObject({ status: 'ok', data: { matches: [] } });
  expect((await app.task('start', login)).status).toBe('ok');
  expect((await taskRow(app, old)).status).toBe('completed');
});

test('planned, active and blocked work of every owner is compared [team.check.compared-work] [team.check.event]', async () => {
  const app = await teamApp();
  const ids = [await app.planned(login, app.ben), await app.started({ ...login, title: 'Rate limit login, endpoint side' }, app.ben)];
  const blocked = await app.started({ ...login, title: 'Rate limit for login endpoint calls' });
  await app.task('update', { task_id: blocked, status: 'blocked' });
  const check = await app.task('check', { ...login, title: 'Login endpoint: rate limit' });
  expect(check.data.candidates.map(({ id, status }: { id: string; status: string }) => [id, status]).sort()).toEqual(
    [
      [ids[0], 'planned'],
      [ids[1], 'active'],
      [blocked, 'blocked'],
    ].sort(),
  );
  const [event] = (await app.events({ kind: 'task.checked' })).slice(-1);
  expect(event).toMatchObject({ category: 'work', payload: { title: 'Login endpoint: rate limit', requires_verdict: true } });
});
