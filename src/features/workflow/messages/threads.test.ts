import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { type Body, type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

const MINUTE = 60_000;
const person = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true } });

/** Ana and Ben with an agent each, who write to each other, and Ben's Codex, which uses the team tools. */
async function services() {
  const t: WorkflowApp = await workflowApp();
  const codex = await t.developer('ben', 'codex');
  const sender = await t.agent(t.ana, { name: 'planner' });
  const recipient = await t.agent(t.ben, { name: 'worker' });
  const send = (args: object = {}): Promise<Body> =>
    t.ok('message_send', { sender_id: sender, recipient_id: recipient, message_type: 'notification', body: 'Main is green.', ...args });
  const coordinate = async (operation: string, args: object, caller = t.ana): Promise<Body> =>
    (await t.tool('covibe_coordination', { operation, ...args }, caller)).body.data;
  const [ana, ben] = [person(t.ana), person(t.ben)];
  const list = (args: object = {}, caller = ana): Promise<Body> => t.done('messages.threads', args, caller);
  const show = (id: string, caller = ana): Promise<Body> => t.done('messages.thread', { id }, caller);
  const refusal = async (name: string, args: object, caller: TestCaller) => (await t.action(name, args, caller)).reply as { code?: string; message: string };
  return { ...t, codex, sender, recipient, send, coordinate, list, show, refusal, people: { ana, ben } };
}

test('undelivered threads come first, then overdue ones, then the rest, newest first; each shows its delivery', async () => {
  const t = await services();
  const late = await t.coordinate('ask', { to: 'ben', message: 'Which port?', due_in_minutes: 5 });
  await t.coordinate('list', {}, t.ben);
  const read = await t.send({ subject: 'Read already' });
  await t.ok('message_get', { id: read.id }, t.ben);
  const announced = await t.coordinate('announce', { message: 'Main is broken.' });
  const offered = await t.coordinate('handoff', { to: 'ben', message: 'Please take over.' });
  const unseen = await t.send();
  const question = await t.ok('message_send', { sender_id: t.sender, recipient_id: 'human', message_type: 'query', body: 'Drop the table?' });
  t.clock.advance(10 * MINUTE);
  const { pressing, items, next } = await t.list();
  expect(pressing.map(({ id, status }: Body) => [id, status])).toEqual([
    [question.id, 'waiting'],
    [unseen.id, 'undelivered'],
    [late.ask_id, 'overdue'],
  ]);
  expect(items.map(({ id, status }: Body) => [id, status])).toEqual([
    [offered.handoff_id, 'offered'],
    [announced.announcement_id, 'announced'],
    [read.id, 'read'],
  ]);
  expect(next).toBeNull();
  expect(pressing[2]).toMatchObject({ kind: 'ask', from: { name: 'ana' }, to: { name: 'ben', agent_id: null }, subject: 'Which port?', due_at: late.due_at });
  expect(pressing[1]).toMatchObject({ kind: 'message', type: 'notification', from: { name: 'planner' }, to: { name: 'worker' }, subject: 'Main is green.' });
  expect(items[2].steps.map(({ step, state }: Body) => `${step} ${state}`)).toEqual(['sent done', 'delivered done', 'read done', 'answered none']);
});

test('the pages contain every thread of every kind once; filters keep only matching threads', async () => {
  const t = await services();
  const ids: string[] = [];
  for (let round = 0; round < 3; round++) {
    const { id } = await t.send({ subject: `Message ${round}` });
    await t.ok('message_get', { id }, t.ben);
    ids.push(id, (await t.coordinate('announce', { message: `News ${round}`, repo: 'git@host:team/shop.git' })).announcement_id);
    ids.push((await t.coordinate('handoff', { to: 'ben', message: 'Take it.' })).handoff_id);
    t.clock.advance(1);
  }
  const seen: string[] = [];
  for (let before: string | null = null; ; ) {
    const page: Body = await t.list({ limit: 2, ...(before && { before }) });
    expect(page.pressing).toEqual([]);
    seen.push(...page.items.map(({ id }: Body) => id));
    before = page.next;
    if (before === null) break;
  }
  expect(seen).toEqual(ids.reverse());
  const kinds = async (args: object, caller?: TestCaller) => new Set((await t.list(args, caller)).items.map(({ kind }: Body) => kind));
  expect(await kinds({ kind: 'handoff' })).toEqual(new Set(['handoff']));
  expect(await kinds({ repo: 'shop' })).toEqual(new Set(['announcement']));
  expect(await kinds({ mine: true }, t.people.ben)).toEqual(new Set(['message', 'handoff']));
  expect((await t.list({ state: 'overdue' })).items).toEqual([]);
});

test("only participants and the operator can read agents' messages; the names of private developers and their agents are hidden", async () => {
  const t = await services();
  const cyd = person(await t.developer('cyd'));
  const { id } = await t.send({ subject: 'The plan', body: 'Rotate the keys.' });
  const subjectFor = async (caller: TestCaller) => (await t.list({}, caller)).pressing[0].subject;
  expect(await subjectFor(t.people.ben)).toBe('The plan');
  expect(await subjectFor(t.operator)).toBe('The plan');
  expect(await subjectFor(cyd)).toBeNull();
  const hidden = await t.show(id, cyd);
  expect(hidden.entries).toMatchObject([{ text: null }]);
  expect(JSON.stringify(hidden)).not.toContain('Rotate');
  expect((await t.show(id, t.people.ben)).entries).toMatchObject([{ text: 'Rotate the keys.', from: { name: 'planner' }, to: { name: 'worker' } }]);

  await t.done('developers.set_visibility', { visibility: 'private' }, t.people.ana);
  await t.coordinate('ask', { to: 'ben', message: 'Who am I?' }, await t.developer('ana', 'codex'));
  const { pressing } = await t.list({}, t.people.ben);
  expect(pressing.map(({ from }: Body) => from)).toEqual([
    { name: '@private', agent_id: null },
    { name: '@private', agent_id: null },
  ]);
  expect(JSON.stringify(pressing)).not.toMatch(/ana|planner/);
});

test('everybody sees a question to people within a thread of agents, but not the rest of the thread', async () => {
  const t = await services();
  const cyd = person(await t.developer('cyd'));
  const { id } = await t.send({ subject: 'The plan', body: 'Rotate the keys.' });
  const question = { sender_id: t.recipient, recipient_id: 'human', message_type: 'query', body: 'May I rotate?', reply_to_id: id };
  const asked = await t.ok('message_send', question, t.ben);
  const told = async () => [await t.list({}, cyd), await t.show(id, cyd), await t.done('lookup.find', { text: 'the plan' }, cyd)];
  expect((await t.list({}, cyd)).pressing).toMatchObject([{ id, kind: 'question', subject: 'May I rotate?', answerable: true }]);
  expect((await t.show(id, cyd)).entries).toMatchObject([{ text: null }, { text: 'May I rotate?' }]);
  expect(JSON.stringify(await told())).not.toMatch(/The plan|Rotate the keys/);
  expect((await t.list({}, t.people.ben)).pressing[0]).toMatchObject({ subject: 'The plan' });

  await t.done('messages.answer', { id: asked.id, answer: 'Yes.' }, cyd);
  const [answer] = (await t.ok('message_list', { agent_id: t.recipient }, t.ben)).messages.filter(({ reply_to_id }: Body) => reply_to_id === asked.id);
  await t.ok(
    'message_send',
    { sender_id: t.recipient, recipient_id: t.sender, message_type: 'response', body: 'I Rotate the keys now.', reply_to_id: answer.id },
    t.ben,
  );
  expect((await t.show(asked.id, cyd)).entries.map(({ text }: Body) => text)).toEqual([null, 'May I rotate?', 'Yes.', null]);
  expect(JSON.stringify(await told())).not.toMatch(/The plan|Rotate the keys/);
});

test('the addressee can answer an ask once, by the same rules as an agent; the operator can answer in their place', async () => {
  const t = await services();
  const first = await t.coordinate('ask', { to: 'ben', message: 'Which port?' });
  const notHers = await t.refusal('messages.answer', { id: first.ask_id, answer: '80' }, t.people.ana);
  expect(notHers).toMatchObject({ code: 'ASK_NOT_FOUND', next: expect.stringContaining(`covenant messages answer ${first.ask_id} TEXT`) });
  expect((await t.list({}, t.people.ben)).pressing[0]).toMatchObject({ id: first.ask_id, answerable: true });
  expect((await t.list({}, t.people.ana)).pressing[0]).toMatchObject({ answerable: false, remindable: true });
  expect(await t.done('messages.answer', { id: first.ask_id.slice(-8), answer: '8443' }, t.people.ben)).toEqual({
    id: first.ask_id,
    kind: 'ask',
    task_status: null,
  });
  expect((await t.refusal('messages.answer', { id: first.ask_id, answer: '80' }, t.people.ben)).code).toBe('ASK_ALREADY_ANSWERED');
  expect((await t.coordinate('list', { what: 'asks' })).asks_by_me).toMatchObject([{ answer: '8443', receipt: 'answered' }]);
  expect((await t.show(first.ask_id)).entries.map(({ what, text }: Body) => [what, text])).toEqual([
    ['message', 'Which port?'],
    ['answer', '8443'],
  ]);

  const toCodex = await t.coordinate('ask', { to: 'codex@ben', message: 'And the host?' });
  const refused = await t.refusal('messages.answer', { id: toCodex.ask_id, answer: 'x' }, t.people.ben);
  expect(refused).toMatchObject({ code: 'ASK_NOT_FOUND', next: expect.stringContaining('your codex') });
  expect(await t.done('messages.answer', { id: toCodex.ask_id, answer: 'shop.test' })).toMatchObject({ kind: 'ask' });
  const question = await t.ok('message_send', { sender_id: t.sender, recipient_id: 'human', message_type: 'query', body: 'Go on?' });
  expect(await t.done('messages.answer', { id: question.id, answer: 'Yes.' }, t.people.ben)).toMatchObject({ id: question.id, kind: 'question' });
  const again = { sender_id: t.sender, recipient_id: 'human', message_type: 'query', body: 'Really?' };
  const [answer] = (await t.ok('message_list', { agent_id: t.sender })).messages;
  const second = await t.ok('message_send', { ...again, reply_to_id: answer.id });
  expect((await t.list()).pressing).toMatchObject([{ id: question.id, kind: 'question', status: 'waiting', answerable: true }]);
  expect(await t.done('messages.answer', { id: question.id, answer: 'Really.' }, t.people.ben)).toMatchObject({ id: second.id });
  expect((await t.events({ kind: 'ask.answered' })).map(({ actor }) => actor)).toEqual([t.people.ben.principal.actor, 'operator']);
});

test('a reminder reaches the waiting agents, is in the thread, and cannot be repeated immediately', async () => {
  const t = await services();
  const { ask_id } = await t.coordinate('ask', { to: 'ben', message: 'Which port?' });
  const remind = (id: string, caller = t.people.ana) => t.refusal('messages.remind', { id }, caller);
  expect(await remind(ask_id)).toMatchObject({ code: 'REMINDED_RECENTLY', message: 'The message was sent a moment ago.' });
  t.clock.advance(3 * MINUTE);
  const worker = await t.agent(t.ben, { name: 'second' });
  expect(await t.done('messages.remind', { id: ask_id }, t.people.ana)).toMatchObject({ kind: 'ask', told: 1 });
  expect((await t.ok('message_list', { agent_id: worker }, t.ben)).messages).toMatchObject([{ sender_id: 'human', subject: 'Reminder of an ask' }]);
  expect(await remind(ask_id, t.people.ben)).toMatchObject({ code: 'REMINDED_RECENTLY' });
  const shown = await t.show(ask_id);
  expect(shown.entries.map(({ what, from }: Body) => [what, from.name])).toEqual([
    ['message', 'ana'],
    ['reminder', 'ana'],
  ]);
  expect(shown.remindable_from).toBe(t.clock.now() + 15 * MINUTE);
  t.clock.advance(15 * MINUTE);
  await t.done('messages.remind', { id: ask_id }, t.people.ben);
  await t.done('messages.answer', { id: ask_id, answer: '80' }, t.people.ben);
  t.clock.advance(15 * MINUTE);
  expect(await remind(ask_id)).toMatchObject({ code: 'NOTHING_TO_REMIND_OF' });
  expect((await t.events({ kind: 'ask.reminded' })).length).toBe(2);

  const planner = await t.agent(t.ana, { name: 'planner' });
  const query = await t.ok('message_send', { sender_id: planner, recipient_id: worker, message_type: 'query', body: 'Done?' });
  t.clock.advance(3 * MINUTE);
  await t.done('messages.remind', { id: query.id }, t.people.ana);
  const thread = await t.show(query.id);
  expect(thread.thread).toMatchObject({ status: 'undelivered', remindable: true });
  expect(thread.entries.map(({ what, to }: Body) => [what, to?.name])).toEqual([
    ['message', 'second'],
    ['message', 'second'],
    ['reminder', undefined],
  ]);
});

test('a person broadcasts to all online agents and sees recipients and readers, or announces to the team', async () => {
  const t = await services();
  expect(await t.done('messages.recipients', {}, t.people.ana)).toMatchObject({ total: 2, items: [{ name: 'worker' }, { name: 'planner' }] });
  const { id, sent_count } = (await t.done('messages.broadcast', { message: 'Main is frozen.', to: 'agents' }, t.people.ana)) as Body;
  expect(sent_count).toBe(2);
  const [mail] = (await t.ok('message_list', { agent_id: t.recipient }, t.ben)).messages;
  expect(mail).toMatchObject({ sender_id: 'human', body: 'Main is frozen.', message_type: 'notification' });
  const { thread, entries, recipients } = await t.show(id, t.people.ben);
  expect(thread).toMatchObject({ from: { name: 'ana' }, recipients: 2, status: 'sent' });
  expect(thread.steps[1]).toMatchObject({ state: 'partly', count: 1 });
  expect(entries).toMatchObject([{ text: 'Main is frozen.', to: null }]);
  expect(recipients.map(({ to, delivered_at }: Body) => [to.name, delivered_at !== null])).toEqual([
    ['worker', true],
    ['planner', false],
  ]);
  expect((await t.show(mail.id)).thread.id).toBe(id);

  await t.done('messages.broadcast', { message: 'Frozen until noon.', to: 'team' }, t.people.ana);
  expect((await t.coordinate('list', { what: 'announcements' }, t.ben)).announcements).toMatchObject([{ developer: 'ana', message: 'Frozen until noon.' }]);
  expect((await t.refusal('messages.broadcast', { message: 'x', to: 'team' }, t.operator)).code).toBe('DEVELOPER_REQUIRED');
  await t.done('messages.broadcast', { message: 'x', to: 'team', developer: 'ben' }, t.operator);
  expect((await t.refusal('messages.broadcast', { message: 'x', to: 'team', developer: 'ben' }, t.people.ana)).code).toBe('INVALID_INPUT');
  expect((await t.refusal('messages.threads', {}, t.codex)).code).toMatch(/REQUIRED|DENIED/);
});
