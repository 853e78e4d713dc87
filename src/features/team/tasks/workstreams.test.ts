import { expect, test } from 'vitest';
import { type TeamApp, teamApp } from '../../../testing/scenes/team.ts';

const sso = { title: 'Single sign-on with SAML for enterprise customers' };
const sameSso = { title: 'SAML single sign-on for enterprise' };

const row = async ({ app }: TeamApp, id: string) => await app.store.reader.selectFrom('workstreams').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
async function started(app: TeamApp, words: { title: string }, caller = app.ana): Promise<string> {
  await app.workstream('check', words, caller);
  return (await app.workstream('start', words, caller)).data.workstream_id;
}

test('covibe_workstream has exactly seven operations [team.surface.workstream-operations]', async () => {
  const app = await teamApp();
  const schema = app.app.registry.tool('covibe_workstream')?.inputSchema as { properties: { operation: { enum: string[] } } };
  expect(schema.properties.operation.enum).toEqual(['check', 'plan', 'start', 'start_planned', 'update', 'complete', 'cancel']);
  expect(await app.call('covibe_workstream', null, sso)).toMatchObject({ status: 'error', data: { field: 'operation' } });
});

test('a workstream check answers like a task check, and writes its event [team.workstream-check.event] [team.workstream-check.shape]', async () => {
  const app = await teamApp();
  const first = await started(app, sso, app.ben);
  const check = await app.workstream('check', { ...sameSso, session_id: await app.session() });
  expect(check).toMatchObject({
    status: 'warning',
    data: { requires_verdict: true, check_id: expect.stringMatching(/^chk_/), candidates: [expect.objectContaining({ id: first, type: 'workstream' })] },
  });
  expect((await app.events({ kind: 'workstream.checked' })).at(-1)).toMatchObject({ category: 'work', payload: { title: sameSso.title } });
});

test('a workstream starts after a recent check, and is judged like a task [team.workstream-start.needs-recent-check] [team.workstream-start.shape]', async () => {
  const app = await teamApp();
  expect(await app.workstream('start', sso)).toMatchObject({ status: 'blocked', data: { code: 'CHECK_REQUIRED' } });
  await app.workstream('check', sso);
  app.clock.advance(10 * 60_000 + 1);
  expect((await app.workstream('start', sso)).data.code).toBe('CHECK_EXPIRED');
  const first = await started(app, sso);
  expect(await row(app, first)).toMatchObject({ status: 'active', auto_created: 0 });
  const check = await app.workstream('check', sameSso, app.ben);
  expect((await app.workstream('start', sameSso, app.ben)).data.code).toBe('VERDICT_REQUIRED');
  const scope_verdict = { verdict: 'distinct', candidates: [{ id: first, same_scope: false, reason: 'for partners' }] };
  expect((await app.workstream('start', { ...sameSso, check_id: check.data.check_id, scope_verdict }, app.ben)).status).toBe('ok');
  // A check of a task does not count for a workstream.
  await app.task('check', { title: 'Billing by usage', task_type: 'feature' });
  expect((await app.workstream('start', { title: 'Billing by usage' })).data.code).toBe('CHECK_REQUIRED');
});

test('a plan stores a planned workstream, and other work is compared with it [team.workstream-plan.planned] [team.workstream-plan.event] [team.workstream-plan.is-candidate] [team.workstream-plan.shape]', async () => {
  const app = await teamApp();
  const plan = await app.workstream('plan', { ...sso, session_id: await app.session() });
  expect(plan).toMatchObject({ status: 'ok', data: { status: 'planned', workstream_id: expect.stringMatching(/^wst_/) } });
  expect(await row(app, plan.data.workstream_id)).toMatchObject({ status: 'planned', auto_created: 0 });
  expect(await app.events({ kind: 'workstream.planned' })).toHaveLength(1);
  for (const check of [await app.workstream('check', sameSso, app.ben), await app.task('check', { ...sameSso, task_type: 'feature' }, app.ben)]) {
    expect(check.data.candidates).toEqual([expect.objectContaining({ id: plan.data.workstream_id, status: 'planned' })]);
  }
  const overlapping = await app.workstream('plan', sameSso, app.ben);
  expect(overlapping).toMatchObject({ status: 'warning', data: { status: 'planned', warning_id: expect.stringMatching(/^warn_/) } });
});

test("a developer's own workstream is not a duplicate of its tasks", async () => {
  const app = await teamApp();
  await started(app, sso);
  expect((await app.task('check', { ...sso, task_type: 'feature' })).data.matches).toEqual([]);
});

test('planned workstreams are in the team state [team.workstream-plan.in-team-state]', async () => {
  const app = await teamApp();
  const plan = await app.workstream('plan', sso);
  expect((await app.team('state', {}, app.ben)).data.planned_workstreams).toEqual([
    expect.objectContaining({ workstream_id: plan.data.workstream_id, title: sso.title, owner: 'ana', mine: false }),
  ]);
});

test('a planned workstream starts after a check with its title, and is compared again [team.workstream-start-planned.needs-check] [team.workstream-start-planned.activates] [team.workstream-start-planned.event] [team.workstream-start-planned.shape] [team.start-planned.recheck] [team.start-planned.recheck-event]', async () => {
  const app = await teamApp();
  const id = (await app.workstream('plan', sso)).data.workstream_id;
  const start = (answer: object = {}) => app.workstream('start_planned', { planned_workstream_id: id, ...answer });
  expect(await start()).toMatchObject({ status: 'blocked', data: { code: 'CHECK_REQUIRED' } });
  await app.workstream('check', sameSso);
  expect((await start()).data.code).toBe('CHECK_REQUIRED');
  expect((await app.workstream('start_planned', { planned_workstream_id: id }, app.ben)).data.code).toBe('WORKSTREAM_NOT_FOUND');
  const check = await app.workstream('check', sso);
  expect(check.data.candidates).toEqual([]);
  const arrived = (await app.workstream('plan', sameSso, app.ben)).data.workstream_id;
  const blocked = await start();
  expect(blocked).toMatchObject({ status: 'blocked', data: { code: 'NEW_OVERLAP', candidates: [expect.objectContaining({ id: arrived })] } });
  const checks = (await app.events({ kind: 'workstream.checked' })).length;
  const scope_verdict = { verdict: 'distinct', candidates: [{ id: arrived, same_scope: false, reason: 'other' }] };
  expect(await start({ check_id: blocked.data.check_id, scope_verdict })).toMatchObject({ status: 'ok', data: { workstream_id: id, status: 'active' } });
  expect((await app.events({ kind: 'workstream.checked' })).length).toBe(checks + 1);
  expect(await app.events({ kind: 'workstream.start_planned' })).toEqual([expect.objectContaining({ subject: id })]);
});

test('update sets active or blocked, only on started work [team.workstream-update.status-values] [team.workstream-update.completed-refused] [team.workstream-update.owner-only] [team.workstream-update.shape]', async () => {
  const app = await teamApp();
  const id = await started(app, sso);
  const update = (status: string, caller = app.ana) => app.workstream('update', { workstream_id: id, status }, caller);
  expect((await update('blocked')).data.status).toBe('blocked');
  for (const status of ['planned', 'completed', 'cancelled']) expect(await update(status)).toMatchObject({ status: 'error', data: { field: 'status' } });
  expect((await update('active', app.ben)).data.code).toBe('WORKSTREAM_NOT_FOUND');
  expect((await update('active')).data.status).toBe('active');
  await app.workstream('complete', { workstream_id: id, result_summary: 'r' });
  expect(await update('active')).toMatchObject({ status: 'error', data: { code: 'INVALID_TRANSITION' } });
  expect((await row(app, id)).status).toBe('completed');
});

test('completion requires a summary, and a confirmation if tasks are open [team.workstream-complete.result-summary-required] [team.workstream-complete.open-tasks-warn] [team.workstream-complete.confirm-open-tasks] [team.workstream-complete.event] [team.workstream-complete.shape]', async () => {
  const app = await teamApp();
  const id = await started(app, sso);
  const begun = async (title: string) => {
    await app.task('check', { title, task_type: 'chore' });
    return (await app.task('start', { title, task_type: 'chore', workstream_id: id })).data.task_id as string;
  };
  const open = [
    await app.planned({ title: 'Parse SAML metadata', workstream_id: id }),
    await begun('Rotate the signing keys'),
    await begun('Print the membership cards'),
  ];
  await app.task('update', { task_id: open[2], status: 'blocked' });
  expect(await app.workstream('complete', { workstream_id: id })).toMatchObject({ status: 'error', data: { field: 'result_summary' } });
  const first = await app.workstream('complete', { workstream_id: id, result_summary: 'done' });
  expect(first).toMatchObject({ status: 'warning', data: { code: 'OPEN_TASKS', open_task_ids: open, status: 'active' } });
  expect((await row(app, id)).status).toBe('active');
  expect((await app.workstream('complete', { workstream_id: id, result_summary: 'done', confirm_open_tasks: false })).status).toBe('warning');
  const second = await app.workstream('complete', { workstream_id: id, result_summary: 'done', confirm_open_tasks: true });
  expect(second).toMatchObject({ status: 'ok', data: { status: 'completed' } });
  expect(await app.events({ kind: 'workstream.completed' })).toEqual([
    expect.objectContaining({ subject: id, payload: expect.objectContaining({ open_task_ids: open }) }),
  ]);
});

test('completing twice is a warning without a second event [team.workstream-complete.idempotent] [team.workstream-complete.owner-only]', async () => {
  const app = await teamApp();
  const id = await started(app, sso);
  const complete = (caller = app.ana) => app.workstream('complete', { workstream_id: id, result_summary: 'r' }, caller);
  expect((await complete(app.ben)).data.code).toBe('WORKSTREAM_NOT_FOUND');
  expect((await complete()).status).toBe('ok');
  expect(await complete()).toMatchObject({ status: 'warning', data: { code: 'ALREADY_COMPLETED' } });
  expect(await app.events({ kind: 'workstream.completed' })).toHaveLength(1);
});

test('only the owner can cancel a workstream, only while it is planned, with a reason [team.workstream-cancel.planned-only] [team.workstream-cancel.reason-required] [team.workstream-cancel.event] [team.workstream-cancel.owner-only] [team.workstream-cancel.shape]', async () => {
  const app = await teamApp();
  const planned = (await app.workstream('plan', sso)).data.workstream_id;
  const running = await started(app, { title: 'Dark mode' });
  const cancel = (id: string, args: object = { reason: 'no budget' }, caller = app.ana) => app.workstream('cancel', { workstream_id: id, ...args }, caller);
  expect(await cancel(planned, {})).toMatchObject({ status: 'error', data: { field: 'reason' } });
  expect((await cancel(planned, undefined, app.ben)).data.code).toBe('WORKSTREAM_NOT_FOUND');
  const refused = await cancel(running);
  expect(refused).toMatchObject({ status: 'error', data: { code: 'INVALID_TRANSITION' } });
  expect(refused.feedback.required_action).toContain('complete');
  expect(await cancel(planned)).toMatchObject({ status: 'ok', data: { status: 'cancelled' } });
  expect(await app.events({ kind: 'workstream.cancelled' })).toEqual([
    expect.objectContaining({ subject: planned, payload: expect.objectContaining({ reason: 'no budget' }) }),
  ]);
  expect((await row(app, running)).status).toBe('active');
});
