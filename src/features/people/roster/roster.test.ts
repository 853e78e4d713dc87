import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';
import { issueInstanceToken } from '../../core/identity/index.ts';
import { claimsLive } from './store.ts';

const MINUTE = 60_000;

async function rosterApp() {
  const t = await workflowApp();
  const codex = await t.developer('ana', 'codex');
  const gemini = await t.developer('ben', 'gemini');
  /** Callers on the dashboard. Ana joined first, so she has operator rights. */
  const person = (caller: TestCaller, operator: boolean): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true, operator } });
  const ana = person(t.ana, true);
  const ben = person(t.ben, false);
  const list = async (viewer = ana): Promise<Body> => await t.done('agents.list', {}, viewer);
  const row = async (name: string, viewer = ana): Promise<Body> => (await list(viewer)).items.find((each: Body) => each.name === name);
  const show = async (agent_id: string, viewer = ana): Promise<Body> => await t.done('agents.show', { agent_id }, viewer);
  const call = async (tool: string, args: object, caller: TestCaller): Promise<Body> => (await t.tool(tool, args, caller)).body;
  const startTask = async (title: string, caller: TestCaller): Promise<string> => {
    await call('covibe_task', { operation: 'check', title, task_type: 'docs' }, caller);
    return (await call('covibe_task', { operation: 'start', title, task_type: 'docs' }, caller)).data.task_id;
  };
  const codexId = `codex@${codex.principal.developerId}`;
  return { ...t, codex, gemini, person: { ana, ben }, list, row, show, call, startTask, codexId };
}

test('an agent has one row with its name, activity and held work, although its session and its registration have ids of their own', async () => {
  const { codex, call, startTask, row, list, show, codexId, planned, claimed, clock } = await rosterApp();
  const session = (await call('covibe_session', { operation: 'start', repo: 'shop', branch: 'main', model: 'm1' }, codex)).data.session_id;
  await call('covibe_session', { operation: 'activity', session_id: session, text: 'Reading the code' }, codex);
  expect(await row('codex@ana')).toMatchObject({ agent_id: codexId, state: 'working', doing: { text: 'Reading the code' } });
  await call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/**'], session_id: session }, codex);
  await call(
    'covibe_session',
    { operation: 'snapshot', session_id: session, repo: 'shop', branch: 'main', dirty_files: ['a.ts', 'b.ts'], unpushed_files: ['c.ts'] },
    codex,
  );
  await startTask('Write the manual', codex);
  const { workflow_id, ids } = await planned(['Build']);
  const { agent_id } = await claimed(ids.Build as string, codex);

  const rows = (await list()).items.filter(({ name }: Body) => name !== 'gemini@ben');
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    name: 'codex@ana',
    state: 'working',
    doing: { text: 'Build', path: `/workflows/${workflow_id}?task=${ids.Build}` },
    holds: { tasks: 1, steps: 1, claims: 1, locks: 0 },
    refused_24h: 0,
    cost_24h: null,
    registered: [agent_id],
    last_seen_at: clock.now(),
  });
  const shown = await show(codexId);
  expect(shown).toMatchObject({
    tasks: [{ title: 'Write the manual', status: 'active' }],
    steps: [{ name: 'Build', workflow_name: 'Ship it', lease_expires_at: clock.now() + 90_000 }],
    claims: [{ repo: 'shop', patterns: ['src/**'], mode: 'exclusive', expires_at: clock.now() + 60 * MINUTE }],
    worktrees: [{ repo: 'shop', branch: 'main', dirty: ['a.ts', 'b.ts'], dirty_count: 2, unpushed_count: 1 }],
    sessions: [{ session_id: session, model: 'm1', ended_at: null }],
    tokens: [{ token_id: codex.tokenId, status: 'live' }],
  });
  expect(shown.grants.length).toBeGreaterThan(0);
  expect(shown.calls.granted.reduce((sum: number, count: number) => sum + count, 0)).toBeGreaterThan(5);
  clock.advance(2 * MINUTE);
  expect((await row('codex@ana')).state).toBe('lost');
});

test('a block or an error is shown with the message that the agent got, only to people who may read it', async () => {
  const { codex, gemini, call, row, show, codexId, done, ben, person, clock } = await rosterApp();
  await call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/a.ts'] }, gemini);
  const block = await call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/a.ts'] }, codex);
  expect(block.status).toBe('blocked');
  expect(await row('codex@ana')).toMatchObject({
    state: 'blocked',
    refused_24h: 1,
    why_blocked: { asked: 'covibe_coordination.claim', code: 'CLAIM_CONFLICT', message: block.message, required_action: block.feedback.required_action },
  });
  const error = await call('covibe_task', { operation: 'complete', task_id: 'task_0', result_summary: 'x' }, codex);
  const denied = await call('echo', { text: 'hi' }, codex);
  const { refusals, agent } = await show(codexId);
  expect(refusals.map(({ message }: Body) => message)).toEqual([denied.message, error.message, block.message]);
  expect(agent.why_blocked).toEqual(refusals[0]);
  // The message contains the name of Gemini's developer, who is private now, so only the caller may read it.
  await done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const guest = { ...person.ben, principal: { ...person.ben.principal, developerId: 'dev_other' } };
  expect((await show(codexId, guest)).refusals.map(({ message }: Body) => message)).toEqual([null, null, null]);
  expect((await show(codexId)).refusals[2].message).toBe(block.message);
  await call('clock', {}, codex);
  expect((await row('codex@ana')).state).toBe('working');
  clock.advance(10 * MINUTE);
  expect((await row('codex@ana')).state).toBe('quiet');
  clock.advance(30 * MINUTE);
  expect((await row('codex@ana', { ...ben, principal: { ...ben.principal, web: true } })).state).toBe('stale');
});

test('a denied edit counts as a refusal with file and claim, but the agent does not get the state blocked', async () => {
  const { app, codex, call, row, show, codexId } = await rosterApp();
  await call('clock', {}, codex);
  const payload = { claim_id: 'claim_1', path: 'src/a.ts', client: 'codex', tool: 'apply_patch' };
  const denied = { category: 'work', kind: 'edit.denied', actor: codex.principal.actor, subject: 'claim_1' } as const;
  await app.store.append(codex.principal.workspace, [
    { ...denied, payload },
    { ...denied, payload: { ...payload, tool: 7 } },
    { ...denied, payload: {} },
  ]);
  expect(await row('codex@ana')).toMatchObject({ state: 'working', refused_24h: 3, why_blocked: null });
  expect((await show(codexId)).refusals).toMatchObject([
    { asked: 'edit.denied', outcome: 'blocked', edit: null },
    { edit: { ...payload, tool: null } },
    { edit: payload, message: null, warning_id: null },
  ]);
  const refused = await call('echo', { text: 'hi' }, codex);
  await app.store.append(codex.principal.workspace, [{ ...denied, payload }]);
  const why = { state: 'blocked', why_blocked: { asked: 'echo', message: refused.message } };
  expect(await row('codex@ana')).toMatchObject(why);
  expect((await show(codexId)).agent).toMatchObject(why);
});

test("companion reports with an agent's token do not count as a sign of life of the agent", async () => {
  const { app, codex, call, row, clock } = await rosterApp();
  const report = async (at: number) => {
    await app.authenticate(codex.token, 'bearer');
    await call('covibe_session', { operation: 'heartbeat', companion_version: '0.1.0', registered_repos: ['shop'] }, codex);
    const payload = { id: `use-${at}`, model: 'gpt-5', usage: { input_tokens: 5, output_tokens: 1 } };
    await call('covibe_ingest_agent_telemetry', { source: 'codex', payload }, codex);
  };
  await report(0);
  expect(await row('codex@ana')).toMatchObject({ state: 'stale', last_seen_at: null });
  const start = async () => (await call('covibe_session', { operation: 'start', repo: 'shop' }, codex)).data.session_id;
  await start();
  const seen = clock.now();
  for (let minute = 5; minute <= 35; minute += 5) {
    clock.advance(5 * MINUTE);
    await report(minute);
  }
  expect(await row('codex@ana')).toMatchObject({ state: 'stale', last_seen_at: seen });
  await call('covibe_coordination', { operation: 'release', claim_id: 'claim_0' }, codex);
  await report(40);
  expect((await row('codex@ana')).state).toBe('blocked');
});

test('an ended agent stays ended while its machine reports', async () => {
  const { app, codex, call, row, clock } = await rosterApp();
  const { session_id } = (await call('covibe_session', { operation: 'start' }, codex)).data;
  await call('covibe_session', { operation: 'end', session_id }, codex);
  clock.advance(MINUTE);
  await app.authenticate(codex.token, 'bearer');
  const payload = { model: 'gpt-5', usage: { input_tokens: 5, output_tokens: 1 } };
  await call('covibe_ingest_agent_telemetry', { source: 'codex', payload }, codex);
  expect((await row('codex@ana')).state).toBe('ended');
});

test('a worker that dies is lost within 95 s; its last checkpoint, the loss and its successor stay visible', async () => {
  const { codex, gemini, row, show, codexId, planned, started, claimed, ok, clock, done, person } = await rosterApp();
  const { ids } = await planned(['Migrate']);
  const step = ids.Migrate as string;
  const { agent_id } = await started(step, codex);
  await ok('checkpoint_add', { task_id: step, agent_id, type: 'progress', summary: 'Half of the tables' }, codex);
  clock.advance(95_000);
  await expect.poll(async () => (await row('codex@ana')).state).toBe('lost');
  await expect.poll(async () => (await row('codex@ana')).holds.steps).toBe(0);
  await claimed(step, gemini);
  expect((await show(codexId)).work).toMatchObject([
    {
      id: step,
      title: 'Migrate',
      end: 'lost',
      reason: 'agent silent',
      checkpoint: { type: 'progress', summary: 'Half of the tables' },
      taken_by: { name: 'gemini@ben', agent_id: `gemini@${gemini.principal.developerId}` },
    },
  ]);
  const { lanes } = (await done('agents.lanes', {}, person.ana)) as Body;
  expect(lanes.map(({ name, spans }: Body) => [name, spans.map(({ title, end }: Body) => [title, end])])).toEqual([
    ['gemini@ben', [['Migrate', 'held']]],
    ['codex@ana', [['Migrate', 'lost']]],
  ]);
  const news = (await done('news.list', { since: 0 }, person.ana)) as Body;
  expect(news).toMatchObject({ items: [{ news: 'failed', what: 'step', title: 'Migrate', by: { name: 'codex@ana' } }], counts: { failed: 1 } });
});

test('an operator can release the steps and claims of an agent; its tasks stay, and the answer has the numbers', async () => {
  const { codex, call, startTask, row, codexId, planned, claimed, done, action, person, task, events, ana } = await rosterApp();
  await call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/a.ts'] }, codex);
  await startTask('Write the manual', codex);
  const { ids } = await planned(['Build', 'Test']);
  const { agent_id } = await claimed(ids.Build as string, codex);
  await claimed(ids.Test as string, ana);
  expect((await action('agents.release', { agent_id: codexId }, person.ben)).body).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect(await done('agents.release', { agent_id: codexId }, person.ana)).toEqual({ agent_id: codexId, steps_released: 1, claims_released: 1 });
  expect(await task(ids.Build as string)).toMatchObject({ status: 'pending', assigned_agent_id: null });
  expect(await task(ids.Test as string)).toMatchObject({ assigned_agent_id: expect.any(String) });
  expect((await row('codex@ana')).holds).toMatchObject({ tasks: 1, steps: 0, claims: 0 });
  expect((await events({ kind: 'claim.released' })).map(({ actor }) => actor)).toEqual([ana.principal.actor]);
  expect((await events({ kind: 'agent.offline' })).map(({ subject, payload }) => [subject, payload.tasks_released])).toEqual([[agent_id, 1]]);
  expect(await done('agents.release', { agent_id: codexId }, person.ana)).toMatchObject({ steps_released: 0, claims_released: 0 });
});

test('an agent can be released completely, however much others hold', async () => {
  const { app, codex, call, codexId, planned, claimed, done, person, ana } = await rosterApp();
  const { store } = app;
  const { workspace } = codex.principal;
  await call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/a.ts'] }, codex);
  const { ids } = await planned(['Build', 'Test']);
  await claimed(ids.Build as string, codex);
  await claimed(ids.Test as string, ana);
  const claim = await store.reader.selectFrom('claims').selectAll().executeTakeFirstOrThrow();
  const step = await store.reader
    .selectFrom('workflow_tasks')
    .selectAll()
    .where('id', '=', ids.Test as string)
    .executeTakeFirstOrThrow();
  await store.write(workspace, async (tx) => {
    for (let at = 0; at < 1_000; at += 20) {
      const some = Array.from({ length: 20 }, (_, index) => `0${String(at + index).padStart(4, '0')}`);
      await tx.db
        .insertInto('claims')
        .values(some.map((id) => ({ ...claim, id: `claim_${id}`, actor: ana.principal.actor })))
        .execute();
      await tx.db
        .insertInto('workflow_tasks')
        .values(some.map((id, index) => ({ ...step, id: `tk_${id}`, name: `Step ${id}`, sequence: 1_000 + at + index })))
        .execute();
    }
  });
  expect(await done('agents.release', { agent_id: codexId }, person.ana)).toEqual({ agent_id: codexId, steps_released: 1, claims_released: 1 });
});

test('an agent with more claims than a list shows loses all of them on release', async () => {
  const { app, codex, call, clock } = await rosterApp();
  const { actor, workspace } = codex.principal;
  await call('covibe_coordination', { operation: 'claim', repo: 'shop', paths: ['src/a.ts'] }, codex);
  const claim = await app.store.reader.selectFrom('claims').selectAll().executeTakeFirstOrThrow();
  await app.store.write(workspace, async (tx) => {
    for (let at = 0; at < 1_000; at += 20) {
      const some = Array.from({ length: 20 }, (_, index) => ({ ...claim, id: `claim_0${String(at + index).padStart(4, '0')}` }));
      await tx.db.insertInto('claims').values(some).execute();
    }
  });
  const held = await claimsLive(app.store.reader, workspace, clock.now(), actor);
  expect(new Set(held.map(({ id }) => id)).size).toBe(1_001);
});

test('agents of private developers are one row without a page, and nothing identifies them', async () => {
  const { codex, gemini, call, list, planned, claimed, action, done, person, codexId, ben } = await rosterApp();
  await call('covibe_session', { operation: 'start', agent_name: 'bens own', branch: 'ben/x' }, gemini);
  const { ids } = await planned(['Build', 'Test']);
  await claimed(ids.Build as string, gemini);
  await claimed(ids.Test as string, ben);
  await call('clock', {}, codex);
  await done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const seen = await list();
  expect(seen.items.filter(({ agent_id }: Body) => agent_id === null)).toMatchObject([
    { name: '@private', state: 'working', doing: null, holds: { steps: 2 } },
  ]);
  const all = [seen, await done('agents.lanes', {}, person.ana), await done('news.list', { since: 0 }, person.ana)];
  expect(JSON.stringify(all)).not.toMatch(/ben|gemini/);
  expect(JSON.stringify(all)).not.toContain(gemini.principal.developerId);
  const unknown = { code: 'AGENT_NOT_FOUND' };
  const geminiId = `gemini@${gemini.principal.developerId}`;
  expect((await action('agents.show', { agent_id: geminiId }, person.ana)).body).toMatchObject(unknown);
  expect((await action('agents.release', { agent_id: geminiId }, person.ana)).body).toMatchObject(unknown);
  expect((await done('agents.show', { agent_id: geminiId }, person.ben)) as Body).toMatchObject({ agent: { name: 'gemini@ben' } });
  // Members must not see this about others' agents.
  expect((await done('agents.show', { agent_id: codexId }, person.ben)) as Body).toMatchObject({ grants: null, tokens: null });
  for (const name of ['agents.list', 'waiting.list', 'team.first_steps'])
    expect((await action(name, {}, codex)).body).toMatchObject({ code: 'OPERATOR_REQUIRED' });
});

test('ended agents, agents with a question, and agents with a held call have different states', async () => {
  const { codex, gemini, call, row, planned, started, ok, done, tool, clock } = await rosterApp();
  const session = (await call('covibe_session', { operation: 'start' }, codex)).data.session_id;
  await call('covibe_session', { operation: 'end', session_id: session }, codex);
  expect((await row('codex@ana')).state).toBe('ended');
  const { ids } = await planned(['Build']);
  const { agent_id } = await started(ids.Build as string, gemini);
  const question = await ok(
    'message_send',
    { sender_id: agent_id, recipient_id: 'human', message_type: 'query', body: 'Which port?', task_id: ids.Build },
    gemini,
  );
  expect((await row('gemini@ben')).state).toBe('waiting');
  await done('questions.answer', { question_id: question.id, answer: '8443' });
  expect((await row('gemini@ben')).state).toBe('working');
  await done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId, scope: { approve: true } });
  clock.advance(MINUTE);
  const held = tool('echo', { text: 'hi' }, codex);
  await expect.poll(async () => (await row('codex@ana')).state).toBe('waiting');
  const { items } = (await done('approvals.list', {})) as Body;
  await done('approvals.refuse', { approval_id: items[0].approval_id });
  await held;
  expect(await row('codex@ana')).toMatchObject({ state: 'blocked', why_blocked: { code: 'APPROVAL_REFUSED', message: null } });
});

test('an ask appears in the waiting list of the person it is addressed to; news lists what was finished and decided since a time', async () => {
  const { codex, gemini, call, startTask, done, person, clock } = await rosterApp();
  await call('covibe_coordination', { operation: 'ask', to: 'ana', message: 'May I drop it?', due_in_minutes: 30 }, gemini);
  expect(await done('waiting.list', {}, person.ana)).toMatchObject({
    items: [{ kind: 'ask', who: 'gemini@ben', sentence: 'May I drop it?', since: clock.now(), deadline: clock.now() + 30 * MINUTE }],
  });
  expect(await done('waiting.list', {}, person.ben)).toMatchObject({ items: [] });
  const task_id = await startTask('Write the manual', codex);
  clock.advance(1_000);
  const before = clock.now();
  clock.advance(1_000);
  await call('covibe_task', { operation: 'complete', task_id, result_summary: 'Ten chapters' }, codex);
  await call('covibe_note', { kind: 'decision', title: 'We use SQLite', body: 'It is enough' }, codex);
  expect(await done('news.list', { since: before }, person.ana)).toMatchObject({
    since: before,
    items: [
      { news: 'decided', what: 'decision', title: 'We use SQLite', details: 'It is enough', by: { name: 'codex@ana' } },
      { news: 'finished', what: 'task', title: 'Write the manual', details: 'Ten chapters', path: `/tasks?task=${task_id}` },
    ],
    counts: { finished: 1, failed: 0, decided: 1 },
  });
  expect((await done('news.list', { since: clock.now() }, person.ana)).items).toEqual([]);
  expect(await done('team.first_steps', {}, person.ana)).toEqual({ connected: true, called: true, warning_id: null, finished: true });
});

test('others see why an instance of a private developer failed, without its name', async () => {
  const { app, clock, done, person, ben, list, operator, startTask } = await rosterApp();
  const { workspace } = operator.principal;
  const issued = await app.store.write(workspace, (tx) => issueInstanceToken(tx, { id: 'work-7-a1', developer_id: ben.principal.developerId }, 'operator'));
  const instance = await app.authenticate(issued.value, 'bearer');
  if (!('principal' in instance)) throw new Error(instance.rejected);
  await startTask('Left behind', { token: issued.value, tokenId: issued.id, principal: instance.principal });
  const started = {
    machine: 'here',
    type: 'coding',
    status: 'terminated',
    agent: 'tiny',
    agent_id: 'agt_x',
    session_name: 'x',
    session_kind: 'plain',
    prompt: '',
  } as const;
  await app.store.write(workspace, async (tx) => {
    const where = { repository: '/home/ben/secret', worktree_path: '/home/ben/secret/w', branch_name: 'work-7-a1', base_branch: 'main' };
    const row = { ...started, ...where, workspace_id: workspace, id: 'work-7-a1', developer_id: ben.principal.developerId, created_by: 'operator' };
    const times = { created_at: tx.now, updated_at: tx.now, last_activity: tx.now, ended_at: tx.now - 48 * 60 * MINUTE };
    await tx.db
      .insertInto('instances')
      .values({ ...row, ...times, review_iteration: 0, failed_reviews: 0, extra_reviews: 0 } as never)
      .execute();
    const event = { category: 'work', actor: 'instance:work-7-a1', subject: 'work-7-a1' } as const;
    tx.append({ ...event, kind: 'instance.failed', payload: { reason: '/home/ben/secret is gone' } });
    tx.append({ ...event, kind: 'decision.recorded', subject: 'note_1', payload: { title: 'We stop' } });
  });
  clock.advance(1);
  const news = async (viewer: TestCaller): Promise<Body[]> => ((await done('news.list', { since: 0 }, viewer)) as Body).items;
  expect(await news(person.ana)).toMatchObject([{ by: { name: 'work-7-a1' } }, { details: '/home/ben/secret is gone' }]);
  await done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const seen = await news(person.ana);
  expect(seen).toMatchObject([
    { title: 'We stop', by: { name: '@private', agent_id: null } },
    { what: 'instance', details: null, by: { name: '@private', agent_id: null } },
  ]);
  expect(JSON.stringify([seen, await list(person.ana)])).not.toContain('secret');
  const rows = (await list(person.ana)).items;
  expect(rows.map(({ name }: Body) => name)).toContain('@private');
  expect(JSON.stringify(rows)).not.toMatch(/work-7-a1|Left behind/);
  expect(await news(person.ben)).toMatchObject([{ by: { name: 'work-7-a1' } }, { details: '/home/ben/secret is gone' }]);
});
