import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

/** Ana's agent and Ben's, who write to each other. */
async function correspondents() {
  const app = await workflowApp();
  const a = await app.agent(app.ana);
  const b = await app.agent(app.ben);
  const send = (args: object = {}, caller: TestCaller = app.ana) =>
    app.ok('message_send', { sender_id: a, recipient_id: b, message_type: 'notification', body: 'hello', ...args }, caller);
  const inbox = (args: object = {}) => app.ok('message_list', { agent_id: b, ...args }, app.ben);
  const unread = async () => (await app.ok('message_count_unread', { agent_id: b }, app.ben)).count;
  return { ...app, a, b, send, inbox, unread };
}

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

const row = (app: WorkflowApp, id: string) => app.app.store.reader.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

test('a message has an id and a thread, and arrives as it was sent [message.send.shape] [message.get.shape] [message.list.shape]', async () => {
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

test('what is not one of the documented kinds is refused, by its field [message.send.types] [message.send.priorities] [message.send.body] [message.broadcast.types]', async () => {
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

test('the longest that may be sent comes back whole', async () => {
  const { send, inbox } = await correspondents();
  const long = 'ä'.repeat(20_000);
  await send({ body: long });
  expect((await inbox()).messages[0].body).toBe(long);
});

test('nobody sends as an agent that is not theirs, that does not exist or that is offline [message.send.own-agent]', async () => {
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

test('mail waits for an agent that is offline; one may write to oneself; writing is a sign of life', async () => {
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

test('an answer belongs to the thread of what it answers [message.send.reply-thread] [message.list.thread]', async () => {
  const { a, b, send, ok, inbox, refused, agent, ben } = await correspondents();
  const first = await send({ message_type: 'query', body: 'Which port?' });
  const answer = await ok('message_send', { sender_id: b, recipient_id: a, message_type: 'response', body: '8080', reply_to_id: first.id }, ben);
  const more = await send({ body: 'Thanks', reply_to_id: answer.id });
  await send({ body: 'Something else' });
  expect([answer.thread_id, more.thread_id]).toEqual([first.thread_id, first.thread_id]);
  const thread = { thread_id: first.thread_id };
  expect(ids((await inbox(thread)).messages)).toEqual([more.id, answer.id, first.id]);
  // Whatever has become of them; and what a third was sent in the thread is not theirs to see.
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

test('the work that a message is about must exist and agree; a task names its workflow', async () => {
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

test('a broadcast reaches every other agent that is there, once, in one thread [message.broadcast.shape] [message.broadcast.counts]', async () => {
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

test('a broadcast goes only to whom its filter names; nobody at all is no fault [message.broadcast.filter]', async () => {
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

test('a broadcast to a thousand agents is sent, to more refused, and then to nobody', async () => {
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

test('unread is listed where nothing is asked for; all has read ones too, archived ones are put away [message.list.status-default] [message.list.status-values] [message.archive.effect] [message.archive.shape]', async () => {
  const { send, inbox, ok, refused, b, ben } = await correspondents();
  const [unread, read, archived, once] = [await send(), await send(), await send(), await send()];
  await ok('message_mark_read', { message_ids: [read.id, once.id] }, ben);
  expect(await ok('message_archive', { message_ids: [archived.id, archived.id, once.id] }, ben)).toEqual({ success: true, archived: 2 });
  expect(await ok('message_archive', { message_ids: [archived.id] }, ben)).toEqual({ success: true, archived: 0 });
  expect(await inbox()).toMatchObject({ messages: [{ id: unread.id }], unread_count: 1 });
  expect(ids((await inbox({ status: 'unread' })).messages)).toEqual([unread.id]);
  expect(ids((await inbox({ status: 'read' })).messages)).toEqual([read.id]);
  expect(ids((await inbox({ status: 'all' })).messages)).toEqual([read.id, unread.id]);
  expect(await refused('message_list', { agent_id: b, status: 'archived' }, ben)).toMatchObject({ code: 'INVALID_INPUT', field: 'status' });
  expect(await ok('message_get', { id: archived.id }, ben)).toMatchObject({ status: 'archived' });
});

test('twenty are listed, newest first, unless more are asked for [message.list.limit-default]', async () => {
  const { send, inbox, refused, b, ben, clock } = await correspondents();
  const sent: string[] = [];
  for (let n = 0; n < 25; n++) {
    if (n % 3 === 0) clock.advance(1_000);
    sent.unshift((await send()).id);
  }
  const listed = await inbox();
  expect(ids(listed.messages)).toEqual(sent.slice(0, 20));
  expect(listed.unread_count).toBe(25);
  expect(ids((await inbox({ limit: 200 })).messages)).toEqual(sent);
  for (const limit of [0, 201]) expect(await refused('message_list', { agent_id: b, limit }, ben)).toMatchObject({ field: 'limit' });
});

test('a list stops where an answer has no more room, says so, and delivers only what it shows', async () => {
  const { send, inbox } = await correspondents();
  for (let n = 0; n < 20; n++) await send({ body: { text: 'x'.repeat(60_000) } });
  const first = await inbox({ limit: 200 });
  expect([first.messages.length, first.messages_more, first.unread_count]).toEqual([17, 3, 20]);
  expect((await inbox({ limit: 200 })).messages.filter((message: { delivered_at: number | null }) => message.delivered_at === null)).toEqual([]);
});

test('a list is narrowed by type, priority, workflow and time [message.list.filters] [message.list.since]', async () => {
  const { send, inbox, planned, clock } = await correspondents();
  const { workflow_id } = await planned(['build']);
  const note = await send();
  clock.advance(1_000);
  const query = await send({ message_type: 'query', priority: 'high' });
  clock.advance(1_000);
  const work = await send({ message_type: 'query', workflow_id });
  const listed = async (args: object) => ids((await inbox(args)).messages);
  expect(await listed({ message_type: ['query'] })).toEqual([work.id, query.id]);
  expect(await listed({ message_type: ['query', 'notification'], priority: ['normal'] })).toEqual([work.id, note.id]);
  expect(await listed({ priority: ['high', 'urgent'] })).toEqual([query.id]);
  expect(await listed({ workflow_id })).toEqual([work.id]);
  expect(await listed({ since: clock.now() - 1_000 })).toEqual([work.id, query.id]);
  expect(await listed({ since: clock.now() + 1 })).toEqual([]);
  expect((await inbox({ workflow_id })).unread_count).toBe(3);
});

test('reading marks as read, unless it is not to; marked messages no longer count [message.get.marks-read-default] [message.mark-read.shape] [message.mark-read.effect]', async () => {
  const { send, ok, inbox, unread, ben, ana, clock } = await correspondents();
  const [one, two, three] = [await send(), await send(), await send()];
  clock.advance(1_000);
  expect(await ok('message_get', { id: one.id }, ben)).toMatchObject({ status: 'read', read_at: clock.now(), receipt: 'read' });
  expect(await ok('message_get', { id: two.id, mark_read: false }, ben)).toMatchObject({ status: 'unread', read_at: null, receipt: 'delivered' });
  expect(await unread()).toBe(2);
  const readAt = clock.now();
  clock.advance(1_000);
  expect(await ok('message_mark_read', { message_ids: [one.id, two.id] }, ben)).toEqual({ success: true, marked: 1 });
  expect(await ok('message_get', { id: one.id }, ben)).toMatchObject({ read_at: readAt });
  expect(ids((await inbox()).messages)).toEqual([three.id]);
  expect(await unread()).toBe(1);
  // The sender's own look at it is not the recipient's.
  expect(await ok('message_get', { id: three.id }, ana)).toMatchObject({ status: 'unread', receipt: 'delivered' });
});

test('receipts: sent, delivered with the list, read; the sender sees how far it has come', async () => {
  const { send, ok, inbox, ana, events, b } = await correspondents();
  const { id } = await send();
  const receipt = async () => (await ok('message_get', { id }, ana)).receipt;
  expect(await receipt()).toBe('sent');
  await inbox();
  await inbox();
  expect(await receipt()).toBe('delivered');
  await inbox({ status: 'all' });
  expect((await events({ kind: 'message.delivered' })).map(({ subject, payload }) => [subject, payload])).toEqual([[b, { count: 1, message_ids: [id] }]]);
});

test("other people's mail is neither listed, read nor marked, and reads as if there were none", async () => {
  const { a, b, send, refused, ok, ana, ben, unread, developer } = await correspondents();
  const { id } = await send();
  const eve = await developer('eve');
  for (const tool of ['message_list', 'message_count_unread']) {
    expect(await refused(tool, { agent_id: b }, eve)).toMatchObject({ code: 'FOREIGN_AGENT' });
    expect(await refused(tool, { agent_id: 'ag_0' }, eve)).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  }
  const words = (text: string, of: string) => text.replaceAll(of, '…');
  const [foreign, unknown] = [await refused('message_get', { id }, eve), await refused('message_get', { id: 'msg_0' }, eve)];
  expect(foreign.code).toBe('MESSAGE_NOT_FOUND');
  expect(words(foreign.message, id)).toBe(words(unknown.message, 'msg_0'));
  const own = await ok('message_send', { sender_id: b, recipient_id: b, message_type: 'notification', body: 'note to self' }, ben);
  for (const tool of ['message_mark_read', 'message_archive']) {
    // Ana sent it, and still it is not hers to mark.
    for (const caller of [eve, ana]) expect(await refused(tool, { message_ids: [id] }, caller)).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
    expect(await refused(tool, { message_ids: [own.id, 'msg_0'] }, ben)).toMatchObject({ code: 'MESSAGE_NOT_FOUND', id: 'msg_0' });
    expect(await refused(tool, { message_ids: [] }, ben)).toMatchObject({ field: 'message_ids' });
    expect(await refused(tool, { message_ids: Array(501).fill(id) }, ben)).toMatchObject({ field: 'message_ids' });
  }
  expect(await unread()).toBe(2);
  expect((await ok('message_list', { agent_id: a, status: 'all' }, ana)).messages).toEqual([]);
});

test('unread messages are counted by priority, and told with the heartbeat [message.count.shape] [message.count.filter]', async () => {
  const { b, send, ok, refused, ben } = await correspondents();
  const nothing = { low: 0, normal: 0, high: 0, urgent: 0 };
  expect(await ok('message_count_unread', { agent_id: b }, ben)).toEqual({ count: 0, by_priority: nothing });
  for (const priority of ['normal', 'normal', 'urgent']) await send({ priority });
  const by_priority = { ...nothing, normal: 2, urgent: 1 };
  expect(await ok('message_count_unread', { agent_id: b }, ben)).toEqual({ count: 3, by_priority });
  expect(await ok('message_count_unread', { agent_id: b, priority: ['high', 'urgent'] }, ben)).toEqual({ count: 1, by_priority: { ...nothing, urgent: 1 } });
  expect(await ok('agent_heartbeat', { agent_id: b }, ben)).toMatchObject({ unread_count: 3, unread_by_priority: by_priority });
  expect(await refused('message_count_unread', { agent_id: b, priority: ['asap'] }, ben)).toMatchObject({ code: 'INVALID_INPUT', field: 'priority[0]' });
});

test('what has expired is neither listed, counted nor read; its sender sees that nobody read it', async () => {
  const app = await correspondents();
  const { send, inbox, unread, ok, refused, ana, ben, b, clock } = app;
  const { id, thread_id, expires_at } = await send({ expires_in_minutes: 1 });
  const kept = await send();
  expect(expires_at).toBe(clock.now() + 60_000);
  clock.advance(59_999);
  expect(await unread()).toBe(2);
  expect(ids((await inbox()).messages)).toEqual([kept.id, id]);
  clock.advance(1);
  expect(await unread()).toBe(1);
  expect((await ok('message_count_unread', { agent_id: b }, ben)).count).toBe(1);
  expect(await inbox({ status: 'all' })).toMatchObject({ messages: [{ id: kept.id }], unread_count: 1 });
  expect((await inbox({ thread_id })).messages).toEqual([]);
  expect(await refused('message_get', { id }, ben)).toMatchObject({ code: 'MESSAGE_EXPIRED', expires_at });
  expect(await ok('message_mark_read', { message_ids: [id] }, ben)).toEqual({ success: true, marked: 0 });
  expect(await ok('message_get', { id }, ana)).toMatchObject({ status: 'unread', receipt: 'delivered', read_at: null });
  expect((await row(app, id)).read_at).toBeNull();
});

test('what was read and has expired since is not said to have been unread', async () => {
  const { send, inbox, ok, refused, ben, clock } = await correspondents();
  const { id } = await send({ expires_in_minutes: 1 });
  await ok('message_get', { id }, ben);
  clock.advance(60_000);
  expect((await inbox({ status: 'read' })).messages).toEqual([]);
  expect(await refused('message_get', { id }, ben)).toMatchObject({ code: 'MESSAGE_EXPIRED', message: `Message "${id}" has expired.` });
});

test("who is no developer has the mail of its own agents alone: no instance reads that of another, or the operator's", async () => {
  const { a, ana, agent, ok, refused, operator, done } = await correspondents();
  const instance = (instanceId: string): TestCaller => ({
    ...ana,
    principal: { ...ana.principal, kind: 'instance', developerId: null, instanceId, tokenId: `tok_${instanceId}`, actor: `instance:${instanceId}` },
  });
  const [one, two] = [instance('work-1-a1'), instance('work-2-a1')];
  await done('capabilities.grant', { action: 'toolset.workflow' });
  for (const owner of [one, operator]) {
    const agent_id = await agent(owner);
    const { id } = await ok('message_send', { sender_id: a, recipient_id: agent_id, message_type: 'notification', body: 'x' });
    expect(await refused('message_list', { agent_id }, two)).toMatchObject({ code: 'FOREIGN_AGENT' });
    expect(await refused('message_get', { id }, two)).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
    expect(await refused('message_archive', { message_ids: [id] }, two)).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
    expect((await ok('agent_get', { id: agent_id }, two)).mine).toBe(false);
    expect((await ok('message_list', { agent_id }, owner)).messages).toHaveLength(1);
  }
});

test('events tell who wrote to whom, and nothing of what was written', async () => {
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

test("a private developer's agent is answered by the message that it sent, without its id [harden.private.unlinkable]", async () => {
  const { a, b, send, inbox, ok, refused, ben, done } = await correspondents();
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const { id, thread_id } = await send();
  expect((await inbox()).messages).toMatchObject([{ id, sender_id: '@private', recipient_id: b }]);
  const answer = { sender_id: b, recipient_id: '@private', message_type: 'response', body: 'hi' };
  expect(await ok('message_send', { ...answer, reply_to_id: id }, ben)).toMatchObject({ thread_id });
  expect((await ok('message_list', { agent_id: a })).messages).toMatchObject([{ sender_id: b, recipient_id: a, body: 'hi', reply_to_id: id }]);
  expect(await refused('message_send', answer, ben)).toMatchObject({ code: 'RECIPIENT_NOT_FOUND' });
});
