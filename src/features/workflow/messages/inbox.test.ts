import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { correspondents } from '../../../testing/scenes/correspondents.ts';
import type { WorkflowApp } from '../../../testing/scenes/workflow.ts';

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

const row = (app: WorkflowApp, id: string) => app.app.store.reader.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

test('the list shows unread messages by default; all adds read messages but not archived ones [message.list.status-default] [message.list.status-values] [message.archive.effect] [message.archive.shape]', async () => {
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

test('twenty messages are listed by default, newest first [message.list.limit-default]', async () => {
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

test('a list that is too long for one answer returns how many messages are missing, and marks only the shown ones as delivered', async () => {
  const { send, inbox } = await correspondents();
  for (let n = 0; n < 20; n++) await send({ body: { text: 'x'.repeat(60_000) } });
  const first = await inbox({ limit: 200 });
  expect([first.messages.length, first.messages_more, first.unread_count]).toEqual([17, 3, 20]);
  expect((await inbox({ limit: 200 })).messages.filter((message: { delivered_at: number | null }) => message.delivered_at === null)).toEqual([]);
});

test('a list is filtered by type, priority, workflow and time [message.list.filters] [message.list.since]', async () => {
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

test('getting a message marks it as read by default; marked messages no longer count [message.get.marks-read-default] [message.mark-read.shape] [message.mark-read.effect]', async () => {
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
  // If the sender reads the message, it stays unread for the recipient.
  expect(await ok('message_get', { id: three.id }, ana)).toMatchObject({ status: 'unread', receipt: 'delivered' });
});

test('the sender sees whether a message is sent, delivered by a list, or read', async () => {
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

test("other people's messages cannot be listed, read or marked; the refusal is the same as for missing messages", async () => {
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
    // Ana sent this message, but even she cannot mark it as read.
    for (const caller of [eve, ana]) expect(await refused(tool, { message_ids: [id] }, caller)).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
    expect(await refused(tool, { message_ids: [own.id, 'msg_0'] }, ben)).toMatchObject({ code: 'MESSAGE_NOT_FOUND', id: 'msg_0' });
    expect(await refused(tool, { message_ids: [] }, ben)).toMatchObject({ field: 'message_ids' });
    expect(await refused(tool, { message_ids: Array(501).fill(id) }, ben)).toMatchObject({ field: 'message_ids' });
  }
  expect(await unread()).toBe(2);
  expect((await ok('message_list', { agent_id: a, status: 'all' }, ana)).messages).toEqual([]);
});

test('unread messages are counted by priority, and returned with the heartbeat [message.count.shape] [message.count.filter]', async () => {
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

test('expired messages are not listed, counted or read; the sender sees that nobody read them', async () => {
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
  // This is the call that the refusal suggests.
  const query = { sender_id: b, recipient_id: '@private', reply_to_id: id, message_type: 'query', body: 'Is it still open?' };
  expect(await ok('message_send', query, ben)).toMatchObject({ thread_id });
  expect(await ok('message_mark_read', { message_ids: [id] }, ben)).toEqual({ success: true, marked: 0 });
  expect(await ok('message_get', { id }, ana)).toMatchObject({ status: 'unread', receipt: 'delivered', read_at: null });
  expect((await row(app, id)).read_at).toBeNull();
});

test('an expired message is no longer shown, even if it was read in time', async () => {
  const { send, inbox, ok, refused, ben, clock } = await correspondents();
  const { id } = await send({ expires_in_minutes: 1 });
  await ok('message_get', { id }, ben);
  clock.advance(60_000);
  expect((await inbox({ status: 'read' })).messages).toEqual([]);
  expect(await refused('message_get', { id }, ben)).toMatchObject({ code: 'MESSAGE_EXPIRED', message: `Message "${id}" has expired.` });
});

test('an instance cannot read messages of another instance or of the operator', async () => {
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
