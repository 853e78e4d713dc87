import { expect, test } from 'vitest';
import { correspondents } from '../../../testing/scenes/correspondents.ts';

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

test('a message has an id and a thread, and arrives unchanged [message.send.shape] [message.get.shape] [message.list.shape]', async () => {
  const { a, b, send, inbox, planned, ok, ben, clock } = await correspondents();
  const { workflow_id, ids: tasks } = await planned(['build']);
  const sent = await send({ subject: 'Build', priority: 'high', workflow_id, task_id: tasks.build });
  expect(sent).toEqual({ id: expect.stringMatching(/^msg_/), thread_id: expect.stringMatching(/^thr_/), expires_at: null });
  const message = {
    id: sent.id,
    thread_id: sent.thread_id,
    reply_to_id: null,
    sender_id: a,
    recipient_id: b,
    message_type: 'notification',
    subject: 'Build',
    body: 'hello',
    priority: 'high',
    status: 'unread',
    workflow_id,
    task_id: tasks.build,
    sent_at: clock.now(),
    delivered_at: null,
    read_at: null,
    expires_at: null,
    receipt: 'sent',
  };
  expect(await inbox()).toEqual({ messages: [message], messages_more: 0, unread_count: 1 });
  expect(await ok('message_get', { id: sent.id, mark_read: false }, ben)).toEqual({ ...message, delivered_at: clock.now(), receipt: 'delivered' });
});

test('undocumented values are refused, and the refusal names the field [message.send.types] [message.send.priorities] [message.send.body] [message.broadcast.types]', async () => {
  const { a, b, send, inbox, refused } = await correspondents();
  for (const message_type of ['task_assignment', 'status_update', 'query', 'response', 'notification']) await send({ message_type });
  for (const priority of ['low', 'normal', 'high', 'urgent']) await send({ priority });
  await send({ body: { steps: ['one', 'two'], deep: { n: 1 } } });
  const { messages } = await inbox({ limit: 1 });
  expect(messages[0].body).toEqual({ steps: ['one', 'two'], deep: { n: 1 } });
  const base = { sender_id: a, recipient_id: b, message_type: 'notification', body: 'x' };
  const wrong: [string, object][] = [
    ['message_type', { message_type: 'shout' }],
    ['priority', { priority: 'asap' }],
    ['body', { body: 7 }],
    ['body', { body: '' }],
    ['body', { body: 'x'.repeat(20_001) }],
    ['body', { body: { text: 'x'.repeat(64 * 1024) } }],
    ['subject', { subject: 'two\nlines' }],
    ['subject', { subject: 'x'.repeat(301) }],
    ['expires_in_minutes', { expires_in_minutes: 0 }],
    ['expires_in_minutes', { expires_in_minutes: 43_201 }],
    ['sender_id', { sender_id: 'human' }],
    ['sender_id', { sender_id: 'server' }],
    ['colour', { colour: 'red' }],
  ];
  for (const [field, change] of wrong) expect(await refused('message_send', { ...base, ...change })).toMatchObject({ code: 'INVALID_INPUT', field });
  const all = { sender_id: a, body: 'x' };
  for (const message_type of ['query', 'response', 'task_assignment']) {
    expect(await refused('message_broadcast', { ...all, message_type })).toMatchObject({ code: 'INVALID_INPUT', field: 'message_type' });
  }
});

test('a message of the maximum length is returned whole', async () => {
  const { send, inbox } = await correspondents();
  const long = 'ä'.repeat(20_000);
  await send({ body: long });
  expect((await inbox()).messages[0].body).toBe(long);
});

test("a sender that is another developer's agent, missing or offline is refused [message.send.own-agent]", async () => {
  const { a, b, refused, ben, ok, agent, unread, clock } = await correspondents();
  const words = { recipient_id: b, message_type: 'notification', body: 'x' };
  expect(await refused('message_send', { ...words, sender_id: a }, ben)).toMatchObject({ code: 'FOREIGN_AGENT', field: 'sender_id' });
  expect(await refused('message_broadcast', { sender_id: a, message_type: 'notification', body: 'x' }, ben)).toMatchObject({ code: 'FOREIGN_AGENT' });
  expect(await refused('message_send', { ...words, sender_id: 'ag_0' })).toMatchObject({ code: 'SENDER_NOT_FOUND', field: 'sender_id' });
  expect(await refused('message_send', { ...words, sender_id: a, recipient_id: 'ag_0' })).toMatchObject({ code: 'RECIPIENT_NOT_FOUND', field: 'recipient_id' });
  const gone = await agent();
  await ok('agent_unregister', { id: gone });
  expect(await refused('message_send', { ...words, sender_id: gone })).toMatchObject({ code: 'INVALID_STATE', field: 'sender_id' });
  clock.advance(90_000);
  expect(await refused('message_send', { ...words, sender_id: a })).toMatchObject({ code: 'INVALID_STATE', field: 'sender_id' });
  expect(await unread()).toBe(0);
});

test('messages to an offline agent wait; an agent may write to itself; sending counts as a heartbeat', async () => {
  const { a, b, send, ok, ben, inbox, clock } = await correspondents();
  await ok('agent_unregister', { id: b }, ben);
  await send();
  expect((await inbox()).messages).toHaveLength(1);
  clock.advance(60_000);
  await send({ recipient_id: a });
  clock.advance(60_000);
  expect(await ok('agent_get', { id: a })).toMatchObject({ status: 'online' });
  expect((await ok('message_list', { agent_id: a })).messages).toHaveLength(1);
});

test('an answer joins the thread of the message it answers [message.send.reply-thread] [message.list.thread]', async () => {
  const { a, b, send, ok, inbox, refused, agent, ben } = await correspondents();
  const first = await send({ message_type: 'query', body: 'Which port?' });
  const answer = await ok('message_send', { sender_id: b, recipient_id: a, message_type: 'response', body: '8080', reply_to_id: first.id }, ben);
  const more = await send({ body: 'Thanks', reply_to_id: answer.id });
  await send({ body: 'Something else' });
  expect([answer.thread_id, more.thread_id]).toEqual([first.thread_id, first.thread_id]);
  const thread = { thread_id: first.thread_id };
  expect(ids((await inbox(thread)).messages)).toEqual([more.id, answer.id, first.id]);
  // A thread shows messages of any status, but not the messages that a third agent got in it.
  await ok('message_archive', { message_ids: [first.id] }, ben);
  const third = await agent();
  const aside = await send({ recipient_id: third, reply_to_id: first.id });
  expect(ids((await inbox(thread)).messages)).toEqual([more.id, answer.id, first.id]);
  expect(ids((await inbox({ ...thread, status: 'all' })).messages)).toEqual([more.id, answer.id]);
  expect(ids((await ok('message_list', { agent_id: third, ...thread })).messages)).toEqual([aside.id]);
  const foreign = { sender_id: third, recipient_id: b, message_type: 'response', body: 'x' };
  for (const reply_to_id of [answer.id, 'msg_0']) {
    expect(await refused('message_send', { ...foreign, reply_to_id })).toMatchObject({ code: 'MESSAGE_NOT_FOUND', field: 'reply_to_id' });
  }
});

test('the workflow and task of a message must exist and belong together; a task implies its workflow', async () => {
  const { a, b, send, inbox, planned, refused } = await correspondents();
  const one = await planned(['build']);
  const other = await planned(['test']);
  await send({ task_id: one.ids.build });
  expect((await inbox()).messages[0]).toMatchObject({ workflow_id: one.workflow_id, task_id: one.ids.build });
  const words = { sender_id: a, recipient_id: b, message_type: 'notification', body: 'x' };
  const wrong: [object, string, string][] = [
    [{ workflow_id: 'wf_0' }, 'WORKFLOW_NOT_FOUND', 'workflow_id'],
    [{ task_id: 'tk_0' }, 'TASK_NOT_FOUND', 'task_id'],
    [{ workflow_id: other.workflow_id, task_id: one.ids.build }, 'WORKFLOW_MISMATCH', 'workflow_id'],
  ];
  for (const [about, code, field] of wrong) expect(await refused('message_send', { ...words, ...about })).toMatchObject({ code, field });
});

test('a broadcast reaches every other online agent once, in one thread [message.broadcast.shape] [message.broadcast.counts]', async () => {
  const { a, b, agent, ana, ben, ok, inbox, planned, clock } = await correspondents();
  const silent = await agent(ben);
  const gone = await agent(ben);
  await ok('agent_unregister', { id: gone }, ben);
  clock.advance(60_000);
  for (const [id, caller] of [
    [a, ana],
    [b, ben],
  ] as const) {
    await ok('agent_heartbeat', { agent_id: id }, caller);
  }
  clock.advance(30_000);
  const own = await agent();
  const { workflow_id } = await planned(['build']);
  const words = { subject: 'Freeze', body: { until: 'noon' }, priority: 'urgent', workflow_id, expires_in_minutes: 5 };
  const sent = await ok('message_broadcast', { sender_id: a, message_type: 'notification', ...words });
  expect(sent).toEqual({
    sent_count: 2,
    message_ids: [expect.stringMatching(/^msg_/), expect.stringMatching(/^msg_/)],
    thread_id: expect.stringMatching(/^thr_/),
    expires_at: clock.now() + 300_000,
  });
  const received = [...(await inbox()).messages, ...(await ok('message_list', { agent_id: own })).messages];
  expect(ids(received).sort()).toEqual([...sent.message_ids].sort());
  for (const message of received) {
    expect(message).toMatchObject({ thread_id: sent.thread_id, subject: 'Freeze', body: { until: 'noon' }, priority: 'urgent', workflow_id });
  }
  for (const id of [silent, gone]) expect((await ok('message_list', { agent_id: id }, ben)).messages).toEqual([]);
  expect((await ok('message_list', { agent_id: a })).messages).toEqual([]);
});

test('a broadcast goes only to agents that match its filter, and succeeds even if no agent matches [message.broadcast.filter]', async () => {
  const { a, b, agent, ben, ok, refused } = await correspondents();
  const lead = await agent(ben, { role: 'coordinator', runtime: 'codex' });
  const busy = await agent(ben, { runtime: 'codex' });
  await ok('agent_heartbeat', { agent_id: busy, status: 'busy' }, ben);
  const reach = async (recipient_filter?: object) => {
    const filter = recipient_filter ? { recipient_filter } : {};
    const { message_ids, sent_count } = await ok('message_broadcast', { sender_id: a, message_type: 'status_update', body: 'x', ...filter });
    expect(sent_count).toBe(message_ids.length);
    const who = { b, lead, busy } as const;
    const got = await Promise.all(Object.values(who).map(async (id) => ids((await ok('message_list', { agent_id: id, limit: 200 }, ben)).messages)));
    return Object.keys(who).filter((_, index) => got[index]?.some((id) => message_ids.includes(id)));
  };
  expect(await reach()).toEqual(['b', 'lead', 'busy']);
  expect(await reach({ role: 'coordinator' })).toEqual(['lead']);
  expect(await reach({ runtime: 'codex' })).toEqual(['lead', 'busy']);
  expect(await reach({ status: 'busy' })).toEqual(['busy']);
  expect(await reach({ status: 'online', role: 'worker' })).toEqual(['b']);
  expect(await ok('message_broadcast', { sender_id: a, message_type: 'notification', body: 'x', recipient_filter: { runtime: 'gemini' } })).toEqual({
    sent_count: 0,
    message_ids: [],
    thread_id: null,
    expires_at: null,
  });
  for (const filter of [{ status: 'offline' }, { role: 'boss' }, { colour: 'red' }]) {
    expect(await refused('message_broadcast', { sender_id: a, message_type: 'notification', body: 'x', recipient_filter: filter })).toMatchObject({
      code: 'INVALID_INPUT',
      field: expect.stringMatching(/^recipient_filter\./),
    });
  }
});

test('a broadcast to 1,000 agents is sent; a broadcast to more is refused and reaches no agent', async () => {
  const { a, b, ok, refused, app, unread } = await correspondents();
  const template = await app.store.reader.selectFrom('agents').selectAll().where('id', '=', b).executeTakeFirstOrThrow();
  const crowd = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => ({ ...template, id: `ag_crowd${from + index}` }));
  await app.store.write(template.workspace_id, async (tx) => {
    for (const part of [crowd(0, 500), crowd(500, 999)]) await tx.db.insertInto('agents').values(part).execute();
  });
  const words = { sender_id: a, message_type: 'notification', body: 'x' };
  expect((await ok('message_broadcast', words)).sent_count).toBe(1_000);
  await app.store.write(template.workspace_id, (tx) => tx.db.insertInto('agents').values(crowd(999, 1_000)).execute());
  expect(await refused('message_broadcast', words)).toMatchObject({ code: 'TOO_MANY_RECIPIENTS', field: 'recipient_filter' });
  expect(await unread()).toBe(1);
});

test('events contain senders and recipients but no text', async () => {
  const { a, b, send, ok, ben, events } = await correspondents();
  const secret = 'the-secret-words';
  const { id } = await send({ subject: secret, body: secret });
  await ok('message_broadcast', { sender_id: a, message_type: 'notification', subject: secret, body: { secret } });
  await ok('message_get', { id }, ben);
  await ok('message_archive', { message_ids: [id] }, ben);
  const told = (await events({ category: 'work' })).filter(({ kind }) => kind.startsWith('message.'));
  expect(told.map(({ kind, subject }) => [kind, subject])).toEqual([
    ['message.sent', id],
    ['message.broadcast', expect.stringMatching(/^thr_/)],
    ['message.read', b],
    ['message.archived', b],
  ]);
  expect(told[0]?.payload).toMatchObject({ sender_id: a, recipient_id: b, message_type: 'notification', priority: 'normal' });
  expect(JSON.stringify(await events())).not.toContain(secret);
});

test("others reply to a private developer's agent with the message id, because its agent id is hidden [harden.private.unlinkable]", async () => {
  const { a, b, send, inbox, ok, refused, ben, done } = await correspondents();
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const { id, thread_id } = await send();
  expect((await inbox()).messages).toMatchObject([{ id, sender_id: '@private', recipient_id: b }]);
  const answer = { sender_id: b, recipient_id: '@private', message_type: 'response', body: 'hi' };
  expect(await ok('message_send', { ...answer, reply_to_id: id }, ben)).toMatchObject({ thread_id });
  expect((await ok('message_list', { agent_id: a })).messages).toMatchObject([{ sender_id: b, recipient_id: a, body: 'hi', reply_to_id: id }]);
  expect(await refused('message_send', answer, ben)).toMatchObject({ code: 'RECIPIENT_NOT_FOUND' });
});
