import { expect, test } from 'vitest';
import { hooksApp, MINUTE } from '../../../testing/scenes/hooks.ts';

async function team() {
  const t = await hooksApp();
  const say = async (operation: string, args: object, caller = t.cursor) => {
    const answer = await t.call('covibe_coordination', operation, args, caller);
    if (answer.status !== 'ok') throw new Error(answer.message);
    return answer.data;
  };
  const agent = async (caller = t.claude, workspace_path?: string): Promise<string> => {
    const { reply } = await t.tool('agent_register', { name: 'worker', runtime: 'claude_code', ...(workspace_path ? { workspace_path } : {}) }, caller);
    return (reply.data as { id: string }).id;
  };
  const send = async (recipient_id: string, body: string, more: object = {}) => {
    const sender_id = await agent(t.cursor);
    const { reply } = await t.tool('message_send', { sender_id, recipient_id, message_type: 'notification', body, ...more }, t.cursor);
    return (reply.data as { id: string }).id;
  };
  return { ...t, say, agent, send };
}

test('an ask, an answer and a handoff are delivered once between two tool calls, with the call that answers them, and their receipts are set', async () => {
  const t = await team();
  await t.begun('run-1');
  const before = (await t.events()).length;
  expect((await t.hear('after-tool')).context).toBeNull();
  expect((await t.hear('prompt')).context).toBeNull();
  expect((await t.events()).length).toBe(before);

  const own = await t.say('ask', { to: 'ben', message: 'Whose is it?' }, t.claude);
  await t.say('reply', { ask_id: own.ask_id, message: 'Mine.' });
  const { ask_id, due_at } = await t.say('ask', { to: 'claude-code@ana', message: 'Is the\nparser done?' });
  const { handoff_id } = await t.say('handoff', { to: 'ana', message: 'Take the uploads' });
  const { context } = await t.hear('after-tool');
  expect(context?.split('\n')).toEqual([
    'Covenant: new for you. Quoted text was written by others.',
    `- ben asks you, due ${new Date(due_at).toISOString()}: "Is the parser done?". Answer with covibe_coordination reply (ask_id: "${ask_id}", message: …).`,
    `- ben answered your ask ${own.ask_id}: "Mine.".`,
    `- ben offers you their work: "Take the uploads". Accept with covibe_coordination accept_handoff (handoff_id: "${handoff_id}").`,
  ]);
  expect(await t.events({ kind: 'ask.delivered' })).toMatchObject([{ subject: ask_id, session: (await t.run())?.session_id }]);
  expect(await t.events({ kind: 'ask.answer_delivered' })).toMatchObject([{ subject: own.ask_id }]);
  expect((await t.hear('after-tool')).context).toBeNull();
  // Open questions are repeated with every prompt. Messages that the agent has read are not repeated.
  const prompt = (await t.hear('prompt')).context ?? '';
  expect(prompt).toContain(ask_id);
  expect(prompt).toContain(handoff_id);
  expect(prompt).not.toContain(own.ask_id);
  await t.say('reply', { ask_id, message: 'Yes.' }, t.claude);
  await t.say('accept_handoff', { handoff_id }, t.claude);
  expect((await t.hear('prompt')).context).toBeNull();
});

test('a hook does not deliver items for another agent or for another run of the same agent', async () => {
  const t = await team();
  const [mine, other] = [await t.begun('run-1'), await t.begun('run-2')];
  await t.say('ask', { to: 'codex@ana', message: 'For Codex' });
  const asked = await t.say('ask', { to: 'ben', message: 'Mine?', session_id: other }, t.claude);
  await t.say('reply', { ask_id: asked.ask_id, message: 'No.' });
  expect((await t.hear('after-tool')).context).toBeNull();
  expect((await t.hear('after-tool', { client_session: 'run-2' })).context).toContain('"No."');
  expect(mine).not.toBe(other);
  expect((await t.hear('after-tool', { client_session: 'c', client: 'codex' }, t.codex)).context).toContain('For Codex');
});

test("messages to the caller's registered agents name the call that reads them in full, and count as delivered, not as read", async () => {
  const t = await team();
  await t.begun('run-1', t.claude, { folder: '/home/ana/a' });
  const agent = await t.agent();
  const id = await t.send(agent, `${'long '.repeat(200)}end`, { subject: 'News', priority: 'urgent' });
  await t.send(await t.agent(t.codex), 'for another');
  const { context } = await t.hear('after-tool');
  expect(context).toMatch(
    new RegExp(`- urgent notification from ag_\\w+ to your agent ${agent}: "News": "long .*…"\\. Read it in full with message_get \\(id: "${id}"\\)`),
  );
  expect(context).not.toContain('for another');
  expect(await t.events({ kind: 'message.delivered' })).toMatchObject([{ subject: agent, payload: { message_ids: [id] } }]);
  const { data } = (await t.tool('message_get', { id, mark_read: false }, t.claude)).reply as { data: { status: string; receipt: string } };
  expect(data).toMatchObject({ status: 'unread', receipt: 'delivered' });
  expect((await t.hear('prompt')).context).toBeNull();
  // An agent that is registered with the folder of another run belongs to that other run.
  await t.begun('run-2', t.claude, { folder: '/home/ana/b' });
  await t.send(await t.agent(t.claude, '/home/ana/b/web'), 'for the other');
  expect((await t.hear('after-tool')).context).toBeNull();
  expect((await t.hear('after-tool', { client_session: 'run-2' })).context).toContain('for the other');
});

test('one hook delivers a limited amount of text; the next hook delivers the rest', async () => {
  const t = await team();
  await t.begun('run-1');
  const asks: string[] = [];
  for (let index = 0; index < 10; index++) asks.push((await t.say('ask', { to: 'ana', message: `${index} ${'x'.repeat(490)}` })).ask_id);
  const agent = await t.agent();
  for (let index = 0; index < 5; index++) await t.send(agent, 'y'.repeat(400));
  const seen: string[] = [];
  for (let round = 0; round < 4; round++) {
    const { context } = await t.hear('after-tool');
    expect(Buffer.byteLength(context ?? '')).toBeLessThanOrEqual(4_200);
    seen.push(context ?? '');
  }
  expect(seen[0]).toMatch(/\n- \d+ more: call covibe_coordination list and message_list\.$/);
  for (const id of asks) expect(seen.filter((text) => text.includes(`"${id}"`))).toHaveLength(1);
  expect(seen.join().match(/y{200}/g)).toHaveLength(5);
  expect((await t.hear('after-tool')).context).toBeNull();
});

test('messages to an agent that registered more than a day ago and was silent since are not delivered to the current run', async () => {
  const t = await team();
  await t.send(await t.agent(), 'for the old one');
  t.clock.advance(2 * 60 * MINUTE);
  await t.send(await t.agent(), 'for the recent one');
  t.clock.advance(23 * 60 * MINUTE);
  await t.begun('run-1');
  const { context } = await t.hear('after-tool');
  expect(context).toContain('for the recent one');
  expect(context).not.toContain('for the old one');
});

test('if the client does not show the answer to its agent, nothing counts as delivered', async () => {
  const t = await team();
  await t.begun('run-1');
  await t.say('ask', { to: 'ana', message: 'Which?' });
  expect((await t.hear('prompt', { hears: false })).context).toBeNull();
  expect(await t.events({ kind: 'ask.delivered' })).toEqual([]);
  t.clock.advance(MINUTE);
  expect((await t.hear('after-tool')).context).toContain('Which?');
});

test('two simultaneous hooks deliver a message once', async () => {
  const t = await team();
  await t.begun('run-1');
  await t.send(await t.agent(), 'only once');
  const answers = await Promise.all(Array.from({ length: 6 }, () => t.hear('after-tool')));
  expect(answers.filter(({ context }) => context?.includes('only once'))).toHaveLength(1);
  expect(await t.events({ kind: 'message.delivered' })).toHaveLength(1);
});

test('a handoff that did not fit is delivered by the next hook, even if newer ones arrived', async () => {
  const t = await team();
  await t.begun('run-1');
  for (let index = 0; index < 8; index++) await t.say('ask', { to: 'ana', message: 'x'.repeat(300) });
  await t.say('ask', { to: 'ana', message: 'x'.repeat(30) });
  const offers: string[] = [];
  for (const message of ['y'.repeat(300), 'short', 'z'.repeat(300)]) {
    offers.push((await t.say('handoff', { to: 'ana', message })).handoff_id);
    t.clock.advance(1);
  }
  const told: string[] = [];
  for (let round = 0; round < 3; round++) told.push((await t.hear('after-tool')).context ?? '');
  expect(told[0]).not.toContain(offers[0]);
  for (const id of offers) expect(told.filter((text) => text.includes(id))).toHaveLength(1);
});

test('if there are more handoffs than one hook can report, the next hooks report the rest, oldest first', async () => {
  const t = await team();
  for (const event of ['prompt', 'after-tool'] as const) {
    await t.begun(event);
    const offers: string[] = [];
    for (let index = 0; index < 13; index++) {
      offers.push((await t.say('handoff', { to: 'ana', message: `part ${index}` })).handoff_id);
      t.clock.advance(1);
    }
    const told: string[] = [];
    for (let round = 0; round < 2; round++) told.push((await t.hear(event, { client_session: event })).context ?? '');
    const inRound = offers.map((id) => told.findIndex((text) => text.includes(id)));
    expect(inRound).toEqual(offers.map((_, index) => (index < 10 ? 0 : 1)));
    for (const handoff_id of offers) await t.say('accept_handoff', { handoff_id }, t.claude);
  }
});
