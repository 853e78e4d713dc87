import { expect, test } from 'vitest';
import { SAME_THUMBNAILS, type TeamAnswer, THUMBNAILS, teamApp } from '../../../testing/scenes/team.ts';

/** Sets up Ana's dashboard. She has signed in with a link, and her requests contain only the cookie and the page proof. */
async function signedIn() {
  const app = await teamApp();
  const { url } = await app.serve();
  const session = await app.signIn(url, 'ana');
  const send = async (method: 'GET' | 'POST', address: string, body?: object, headers: Record<string, string> = session.headers) => {
    const answer = await fetch(`${url}${address}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what it finds
    return { status: answer.status, body: (await answer.json()) as any };
  };
  /** The number of tokens. It stays the same if a route creates no token. */
  const tokens = async () => (await app.app.store.reader.selectFrom('tokens').select('id').execute()).length;
  return { ...app, send, tokens };
}

test('the team state is read by cookie, and reading it writes nothing [team.workstream-plan.in-api-state]', async () => {
  const { send, started, workstream, ben, events } = await signedIn();
  const id = await started(THUMBNAILS, ben);
  await workstream('plan', { title: 'Accessibility of the shop' }, ben);
  const before = (await events()).length;
  const { status, body } = await send('GET', '/api/state');
  expect(status).toBe(200);
  expect(body.plannedWorkstreams).toEqual([expect.objectContaining({ title: 'Accessibility of the shop', owner: 'ben' })]);
  expect(body.activeWork).toEqual([expect.objectContaining({ task_id: id })]);
  expect((await events()).length).toBe(before);
});

test('a person plans a task with the same comparison as an agent, and it is stored only after they confirm [dashboard.tasks.route] [dashboard.plan.scoped] [dashboard.plan.requires-confirm] [dashboard.plan.explicit-confirm]', async () => {
  const { send, started, task, ben, ana, app, tokens, events } = await signedIn();
  const before = await tokens();
  const first = await started(THUMBNAILS, ben);
  const asked = await send('POST', '/api/tasks', SAME_THUMBNAILS);
  expect(asked).toMatchObject({
    status: 200,
    body: { status: 'blocked', data: { requires_confirm: true, task_id: null, candidates: [expect.objectContaining({ id: first, owner: 'ben' })] } },
  });
  expect((await task('check', SAME_THUMBNAILS)).data.candidates).toEqual(asked.body.data.candidates);
  expect(await app.store.reader.selectFrom('tasks').selectAll().where('status', '=', 'planned').execute()).toEqual([]);
  const confirmed = await send('POST', '/api/tasks', { ...SAME_THUMBNAILS, confirm: true });
  expect(confirmed).toMatchObject({
    status: 200,
    body: { status: 'ok', data: { requires_confirm: false, task_id: expect.stringMatching(/^task_/), warning_id: expect.stringMatching(/^warn_/) } },
  });
  expect((await events({ kind: 'task.planned' })).map(({ actor }) => actor)).toEqual([`developer:${ana.principal.developerId}`]);
  expect(await send('POST', '/api/tasks', { title: 'x' })).toMatchObject({ status: 400, body: { status: 'error', data: { field: 'task_type' } } });
  expect(await tokens()).toBe(before);
});

test('a person plans a workstream in the same way [dashboard.workstreams.route] [dashboard.plan.requires-confirm]', async () => {
  const { send, workstream, ben, tokens } = await signedIn();
  const before = await tokens();
  await workstream('plan', { title: THUMBNAILS.title, description: THUMBNAILS.scope }, ben);
  const words = { title: SAME_THUMBNAILS.title, description: SAME_THUMBNAILS.scope };
  const asked = await send('POST', '/api/workstreams', words);
  expect(asked.body).toMatchObject({ status: 'blocked', data: { requires_confirm: true, workstream_id: null, candidates: { length: 1 } } });
  expect((await workstream('check', words)).data.candidates).toEqual(asked.body.data.candidates);
  expect((await send('POST', '/api/workstreams', { ...words, confirm: true })).body).toMatchObject({
    status: 'ok',
    data: { workstream_id: expect.stringMatching(/^wst_/), status: 'planned' },
  });
  expect(await tokens()).toBe(before);
});

test('audit and weekly summary run for the signed-in developer, without a token [dashboard.audit.route] [dashboard.weekly-summary.own] [dashboard.weekly-summary.no-token]', async () => {
  const { send, started, team, ben, ana, events, tokens, done } = await signedIn();
  const before = await tokens();
  await started(THUMBNAILS, ben);
  await started(SAME_THUMBNAILS, ben);
  expect(await done('team.latest_audit', {})).toEqual({ audit: null, conflicts: [] });
  const audit = await send('POST', '/api/audit', {});
  expect(audit).toMatchObject({ status: 200, body: { status: 'warning', data: { conflicts: [expect.objectContaining({ kind: 'running' })] } } });
  const { conflicts, compared } = audit.body.data;
  expect((await team('audit_parallel_work')).data).toMatchObject({ conflicts, compared });
  expect(await done('team.latest_audit', {})).toMatchObject({ audit: { developer: 'ana', compared, conflicts: 1 }, conflicts });
  const summary = await send('POST', '/api/weekly-summary', {});
  expect(summary).toMatchObject({ status: 200, body: { status: 'ok', data: { markdown: expect.stringContaining('# Week of') } } });
  for (const kind of ['weekly_summary.generated', 'parallel_work.audit']) {
    expect((await events({ kind }))[0]?.actor).toBe(`developer:${ana.principal.developerId}`);
  }
  expect(await tokens()).toBe(before);
});

test('the team routes of the dashboard refuse tokens and anonymous callers [dashboard.routes.cookie]', async () => {
  const { send, ana, operator } = await signedIn();
  for (const [method, path] of [
    ['GET', '/api/state'],
    ['POST', '/api/tasks'],
    ['POST', '/api/workstreams'],
    ['POST', '/api/audit'],
    ['POST', '/api/weekly-summary'],
  ] as const) {
    const body = method === 'POST' ? {} : undefined;
    for (const { token } of [ana, operator]) expect((await send(method, path, body, { authorization: `Bearer ${token}` })).status).toBe(401);
    expect((await send(method, path, body, {})).status).toBe(401);
    const wrong = (await send(method, path, body, { cookie: 'covenant=x' })) as { status: number; body: TeamAnswer };
    expect(wrong).toMatchObject({ status: 401, body: { status: 'error', data: { code: 'SIGNED_OUT' } } });
  }
  // A machine that is being set up has neither a token nor a cookie.
  expect((await send('POST', '/api/setup/device', {}, {})).status).toBe(400);
});
