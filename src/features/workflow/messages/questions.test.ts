import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';

/** Ana's agent, which works on a task and can ask a question, and Ana herself at the dashboard. */
async function asker() {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(['build', 'test']);
  const task = ids.build as string;
  const held = await app.started(task);
  const ask = (args: object = {}): Promise<Body> =>
    app.ok('message_send', { sender_id: held.agent_id, recipient_id: 'human', message_type: 'query', body: 'Which port?', task_id: task, ...args });
  const person = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true } });
  const answer = (question_id: string, text = '8080', caller = person(app.ana)) => app.done('questions.answer', { question_id, answer: text }, caller);
  const notAnswered = async (question_id: string, caller = person(app.ana)) =>
    (await app.action('questions.answer', { question_id, answer: 'x' }, caller)).body as Body;
  const open = async () => (await app.done('questions.list', {}, person(app.ana))).items as Body[];
  const mail = async () => (await app.ok('message_list', { agent_id: held.agent_id })).messages as Body[];
  const checkpoints = async () => (await app.ok('checkpoint_list', { task_id: task })).checkpoints as Body[];
  const kinds = async () => (await app.events({ category: 'work' })).map(({ kind }) => kind).filter((kind) => kind.startsWith('question.'));
  return {
    ...app,
    workflow_id,
    taskId: task,
    other: ids.test as string,
    agentId: held.agent_id,
    /** The agent that asked, in the form that people see. */
    from: { agent_id: held.agent_id, agent_name: 'worker', workflow_id, workflow_name: 'Ship it', task_id: task, task_name: 'build' },
    ask,
    person,
    answer,
    notAnswered,
    open,
    mail,
    checkpoints,
    kinds,
  };
}

test('a question to human pauses its task; the answer arrives as a message and resumes the task', async () => {
  const t = await asker();
  const { id, thread_id } = await t.ask({ subject: 'Port', priority: 'urgent' });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'paused', question_id: id, assigned_agent_id: t.agentId });
  expect(await t.open()).toEqual([
    {
      question_id: id,
      ...t.from,
      subject: 'Port',
      question: 'Which port?',
      priority: 'urgent',
      asked_at: t.clock.now(),
      expires_at: null,
      answer: null,
      answered_at: null,
    },
  ]);
  t.clock.advance(1_000);
  const answered = await t.answer(id, 'Take 8080.');
  expect(answered).toEqual({
    question_id: id,
    answer_id: expect.stringMatching(/^msg_/),
    agent_id: t.agentId,
    task_id: t.taskId,
    task_status: 'in_progress',
  });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'in_progress', question_id: null, assigned_agent_id: t.agentId });
  expect(await t.mail()).toMatchObject([
    {
      id: answered.answer_id,
      thread_id,
      reply_to_id: id,
      sender_id: 'human',
      message_type: 'response',
      body: 'Take 8080.',
      priority: 'urgent',
      task_id: t.taskId,
      status: 'unread',
    },
  ]);
  expect(await t.ok('message_get', { id })).toMatchObject({ status: 'read', receipt: 'read', read_at: t.clock.now() });
  expect(await t.open()).toEqual([]);
  expect(await t.done('questions.list', { answered: true })).toMatchObject({
    items: [{ question_id: id, answer: 'Take 8080.', answered_at: t.clock.now() }],
    cut: false,
  });
});

test('question and answer are recorded as a decision, which the recovery pack contains; events do not contain their text', async () => {
  const t = await asker();
  const { id } = await t.ask({ body: `Which port? ${'q'.repeat(5_000)}` });
  await t.answer(id, `Take 8080. ${'a'.repeat(3_979)}😀${'a'.repeat(6_000)}`);
  const decision = (await t.checkpoints()).at(-1);
  expect(decision).toMatchObject({ type: 'decision', agent_id: t.agentId, detail: { question_id: id, answered_by: 'human' } });
  expect(decision.summary).toMatch(/^Question: Which port\? q+…\nAnswer: Take 8080\. a+…$/);
  expect(decision.summary.length).toBeLessThanOrEqual(5_020);
  const pack = await t.ok('task_load_context', { task_id: t.taskId });
  expect(JSON.stringify(pack.current_task.checkpoints)).toContain('Answer: Take 8080.');
  expect(await t.kinds()).toEqual(['question.asked', 'question.answered']);
  expect(JSON.stringify(await t.events())).not.toMatch(/Which port|Take 8080/);
});

test('a task in planning goes back to planning; a question that is an object is shown as JSON', async () => {
  const t = await asker();
  const held = await t.claimed(t.other);
  await t.ok('task_update_status', { id: t.other, status: 'planning', agent_id: held.agent_id });
  const { id } = await t.ask({ sender_id: held.agent_id, task_id: t.other, body: { options: ['a', 'b'] } });
  expect((await t.open())[0].question).toBe(JSON.stringify({ options: ['a', 'b'] }, null, 2));
  expect(await t.answer(id)).toMatchObject({ task_status: 'planning' });
  expect(await t.task(t.other)).toMatchObject({ status: 'planning', question_id: null });
});

test('a question without a task pauses no task', async () => {
  const t = await asker();
  const { id } = await t.ask({ task_id: undefined });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'in_progress', question_id: null });
  expect(await t.answer(id)).toMatchObject({ task_id: null, task_status: null });
  expect(await t.mail()).toMatchObject([{ reply_to_id: id, body: '8080' }]);
});

test('a question must be a query, from an agent that may write to the task, about a task in planning or in progress that has no open question', async () => {
  const t = await asker();
  const query = { sender_id: t.agentId, recipient_id: 'human', message_type: 'query', body: 'x', task_id: t.taskId };
  for (const message_type of ['notification', 'response', 'status_update', 'task_assignment']) {
    expect(await t.refused('message_send', { ...query, message_type })).toMatchObject({ code: 'INVALID_INPUT', field: 'message_type' });
  }
  const bens = await t.agent(t.ben);
  expect(await t.refused('message_send', { ...query, sender_id: bens }, t.ben)).toMatchObject({ code: 'NOT_ASSIGNED' });
  expect(await t.refused('message_send', { ...query, task_id: t.other })).toMatchObject({ code: 'INVALID_STATE', field: 'task_id', status: 'pending' });
  const { id } = await t.ask();
  expect(await t.refused('message_send', query)).toMatchObject({ code: 'QUESTION_OPEN', question_id: id });
  expect(await t.open()).toHaveLength(1);
  await t.answer(id);
  await t.ok('task_update_status', { id: t.taskId, status: 'completed', outcome: 'done', agent_id: t.agentId });
  expect(await t.refused('message_send', query)).toMatchObject({ code: 'INVALID_STATE', status: 'completed' });
  await t.ok('workflow_update_status', { id: t.workflow_id, status: 'abandoned' });
  expect(await t.refused('message_send', query)).toMatchObject({ code: 'INVALID_STATE' });
});

test('a refused question stores nothing', async () => {
  const t = await asker();
  await t.refused('message_send', { sender_id: t.agentId, recipient_id: 'human', message_type: 'query', body: 'x', task_id: t.other });
  expect(await t.app.store.reader.selectFrom('messages').selectAll().execute()).toEqual([]);
  expect(await t.kinds()).toEqual([]);
});

test("agent and developer tokens cannot answer or read others' questions; a signed-in member and the operator can", async () => {
  const t = await asker();
  const { id } = await t.ask();
  const codex = await t.developer('ana', 'codex');
  for (const caller of [t.ana, codex]) {
    expect(await t.notAnswered(id, caller)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
    expect((await t.action('questions.list', {}, caller)).body).toMatchObject({ code: 'OPERATOR_REQUIRED' });
    expect((await t.tool('questions.answer', { question_id: id, answer: 'x' }, caller)).isError).toBe(true);
  }
  expect(
    await t.refused('message_send', { sender_id: 'human', recipient_id: t.agentId, message_type: 'response', body: 'yes', reply_to_id: id }),
  ).toMatchObject({
    field: 'sender_id',
  });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'paused' });
  expect(await t.done('questions.answer', { question_id: id.slice(-8), answer: 'yes' }, t.operator)).toMatchObject({ question_id: id });
  expect((await t.checkpoints()).at(-1).detail).toMatchObject({ answered_by: 'operator' });
});

test('the checkpoint of an answer does not name the developer who answered, who may become private later', async () => {
  const t = await asker();
  const { id } = await t.ask();
  await t.answer(id, 'yes', t.person(t.ben));
  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  expect(JSON.stringify(await t.checkpoints())).not.toContain('ben');
  expect((await t.checkpoints()).at(-1).detail).toMatchObject({ answered_by: 'human' });
});

test("a question of a private developer's agent does not show the agent's name", async () => {
  const t = await asker();
  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const bens = await t.agent(t.ben, { name: "ben's agent" });
  await t.ok('message_send', { sender_id: bens, recipient_id: 'human', message_type: 'query', body: 'x' }, t.ben);
  expect((await t.open())[0].agent_name).toBe('@private');
});

test('the first answer counts; an unknown or ambiguous id is refused', async () => {
  const t = await asker();
  const { id } = await t.ask();
  await t.answer(id);
  expect(await t.notAnswered(id)).toMatchObject({ code: 'QUESTION_CLOSED', question_id: id });
  expect(await t.mail()).toHaveLength(1);
  expect(await t.notAnswered('nothing')).toMatchObject({ code: 'QUESTION_NOT_FOUND' });
  const row = await t.app.store.reader.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const twins = ['msg_1TWIN', 'msg_2TWIN'].map((twin) => ({ ...row, id: twin, status: 'unread' as const, answered_at: null }));
  await t.app.store.write(row.workspace_id, (tx) => tx.db.insertInto('messages').values(twins).execute());
  expect(await t.notAnswered('TWIN')).toMatchObject({ code: 'AMBIGUOUS_ID' });
  expect(await t.notAnswered('twin')).toMatchObject({ code: 'QUESTION_NOT_FOUND' });
  expect(await t.answer('2TWIN')).toMatchObject({ question_id: 'msg_2TWIN' });
});

test('a task whose agent has left keeps waiting, and the answer makes it pending for the next agent', async () => {
  const t = await asker();
  const { id } = await t.ask();
  await t.ok('task_release', { task_id: t.taskId, agent_id: t.agentId });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'paused', question_id: id, assigned_agent_id: null });
  expect(await t.answer(id)).toMatchObject({ task_status: 'pending' });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'pending', question_id: null });
  expect((await t.checkpoints()).at(-1)).toMatchObject({ type: 'decision' });
  const next = await t.started(t.taskId);
  expect(next.fence).toBeGreaterThan(1);
});

test('an unclaimed task returns to its earlier status after the answer', async () => {
  const t = await asker();
  for (const status of ['planning', 'in_progress']) await t.ok('task_update_status', { id: t.other, status });
  const { id } = await t.ask({ task_id: t.other });
  expect(await t.task(t.other)).toMatchObject({ status: 'paused', assigned_agent_id: null });
  expect(await t.answer(id)).toMatchObject({ task_status: 'in_progress' });
  expect(await t.task(t.other)).toMatchObject({ status: 'in_progress', question_id: null });
});

test('a silent agent loses the task, but its question stays open', async () => {
  const t = await asker();
  const { id } = await t.ask();
  t.clock.advance(95_000);
  await expect.poll(async () => (await t.task(t.taskId)).assigned_agent_id).toBeNull();
  expect(await t.task(t.taskId)).toMatchObject({ status: 'paused', question_id: id });
  expect(await t.answer(id)).toMatchObject({ task_status: 'pending' });
  expect(await t.mail()).toMatchObject([{ body: '8080' }]);
});

test('a task that waits for an answer cannot change status, be replanned or be removed', async () => {
  const t = await asker();
  const { id } = await t.ask();
  const plan = { approach: 'a', steps: ['b'] };
  await t.refused('task_update_status', { id: t.taskId, status: 'in_progress', agent_id: t.agentId });
  await t.refused('task_replan', { id: t.taskId, reason: 'r', new_plan: plan, agent_id: t.agentId });
  await t.ok('task_release', { task_id: t.taskId, agent_id: t.agentId });
  const removal = await t.refused('workflow_remove_task', { workflow_id: t.workflow_id, task_id: t.taskId });
  expect(removal).toMatchObject({ code: 'TASK_NOT_REMOVABLE', suggestion: expect.stringContaining('Wait until its question is answered') });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'paused', question_id: id });
});

test('a question of an ended workflow can still be answered, but the answer resumes no task', async () => {
  const t = await asker();
  const { id } = await t.ask();
  await t.ok('workflow_update_status', { id: t.workflow_id, status: 'abandoned' });
  const before = await t.checkpoints();
  expect(await t.answer(id)).toMatchObject({ task_status: null });
  expect(await t.task(t.taskId)).toMatchObject({ status: 'paused', question_id: null });
  expect(await t.checkpoints()).toEqual(before);
  expect(await t.mail()).toMatchObject([{ body: '8080' }]);
});

test('the server closes an expired question, notifies the agent and resumes the task', async () => {
  const t = await asker();
  const { id, thread_id, expires_at } = await t.ask({ expires_in_minutes: 1, priority: 'high' });
  t.clock.advance(59_000);
  expect(await t.open()).toHaveLength(1);
  await t.ok('agent_heartbeat', { agent_id: t.agentId });
  t.clock.advance(1_000);
  expect(await t.open()).toEqual([]);
  expect(await t.notAnswered(id)).toMatchObject({ code: 'QUESTION_CLOSED', message: expect.stringContaining('expired') });
  t.clock.advance(5_000);
  await expect.poll(async () => (await t.task(t.taskId)).status).toBe('in_progress');
  expect(await t.mail()).toMatchObject([
    {
      sender_id: 'server',
      thread_id,
      reply_to_id: id,
      message_type: 'notification',
      priority: 'high',
      subject: 'Your question expired without an answer.',
      expires_at: null,
    },
  ]);
  expect((await t.checkpoints()).at(-1)).toMatchObject({
    type: 'decision',
    summary: expect.stringContaining('expired without an answer'),
    detail: { question_id: id, expired_at: expires_at },
  });
  expect(await t.ok('message_get', { id })).toMatchObject({ status: 'archived', receipt: 'sent', read_at: null });
  expect(await t.kinds()).toEqual(['question.asked', 'question.expired']);
  t.clock.advance(60_000);
  expect(await t.notAnswered(id)).toMatchObject({ code: 'QUESTION_CLOSED' });
  expect(await t.done('questions.list', { answered: true })).toMatchObject({ items: [] });
});

test('/api/state shows people the questions of agents in brief; agents do not get them', async () => {
  const t = await asker();
  const { id } = await t.ask({ body: 'x'.repeat(600) });
  for (let n = 0; n < 15; n++) await t.ask({ task_id: undefined, body: `question ${n}` });
  const state = await t.done('team.state', {}, t.person(t.ana));
  const questions = state.questions as Body[];
  expect(questions).toHaveLength(15);
  expect(questions[0]).toEqual({
    question_id: id,
    ...t.from,
    subject: null,
    question: `${'x'.repeat(499)}…`,
    priority: 'normal',
    asked_at: t.clock.now(),
    expires_at: null,
  });
  expect(state.cut).toContain('questions');
  const { body } = await t.tool('covibe_team', { operation: 'state' }, t.ana);
  expect(JSON.stringify(body)).not.toContain('question 0');
});

test('GET /api/questions and POST /api/questions/answer require a signed-in person', async () => {
  const t = await asker();
  const { id } = await t.ask();
  const { url } = await t.serve();
  const { cookie, headers: signedIn } = await t.signIn(url, 'ana');
  const get = async (headers: Record<string, string>) => await fetch(`${url}/api/questions`, { headers });
  expect((await get({ authorization: `Bearer ${t.ana.token}` })).status).toBe(401);
  expect((await get({ cookie })).status).toBe(401);
  expect(((await (await get(signedIn)).json()) as Body).items).toMatchObject([{ question_id: id }]);
  const post = async (headers: Record<string, string>) =>
    await fetch(`${url}/api/questions/answer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, ...headers },
      body: JSON.stringify({ question_id: id, answer: 'yes' }),
    });
  expect((await post({ authorization: `Bearer ${t.ana.token}` })).status).toBe(401);
  expect((await post({ cookie })).status).toBe(401);
  expect((await post(signedIn)).status).toBe(200);
  expect((await post(signedIn)).status).toBe(409);
  expect(await t.task(t.taskId)).toMatchObject({ status: 'in_progress' });
});

test('if several people answer a question at the same time, only one answer is accepted', async () => {
  const t = await asker();
  const { id } = await t.ask();
  const bodies = await Promise.all([t.ana, t.ben, t.ana].map((caller) => t.notAnswered(id, t.person(caller))));
  expect(bodies.filter(({ code }) => code === 'QUESTION_CLOSED')).toHaveLength(2);
  expect(await t.mail()).toHaveLength(1);
});
