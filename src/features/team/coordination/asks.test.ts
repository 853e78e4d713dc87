import { expect, test } from 'vitest';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import type { AskView } from './contract.ts';
import { type heartbeatListener, markDelivered, waitingFor } from './index.ts';

const MINUTE = 60_000;

async function team() {
  const app = await testApp();
  const [ana, mira] = [await app.developer('ana', 'claude-code'), await app.developer('mira', 'codex')];
  const call = async (input: object, by: TestCaller) => (await app.tool('covibe_coordination', input, by)).reply;
  return {
    ...app,
    ana,
    mira,
    ask: (input: object, by: TestCaller) => call({ operation: 'ask', ...input }, by),
    reply: (input: object, by: TestCaller) => call({ operation: 'reply', ...input }, by),
    async asked(input: object, by: TestCaller) {
      const reply = await call({ operation: 'ask', message: 'May I?', ...input }, by);
      if (reply.status !== 'ok') throw new Error(`${reply.code}: ${reply.message}`);
      return reply.data as { ask_id: string; due_at: number };
    },
    async list(by: TestCaller) {
      return (await call({ operation: 'list', what: 'asks' }, by)).data as { asks_to_me: AskView[]; asks_by_me: AskView[] };
    },
    beat: async (by: TestCaller, input: object = {}) =>
      (await app.tool('covibe_session', { operation: 'heartbeat', ...input }, by)).reply.data as {
        waiting: { ask_id: string }[];
        answers?: { ask_id: string }[];
      },
  };
}

test('an ask has a deadline, 60 minutes by default and at most a week; an unanswered ask past it is overdue [coordination.ask.deadline]', async () => {
  const { ana, ask, asked, clock, list, reply } = await team();
  const { ask_id, due_at } = await asked({ to: 'mira' }, ana);
  expect(due_at).toBe(clock.now() + 60 * MINUTE);
  expect((await asked({ to: 'mira', due_in_minutes: 10_080 }, ana)).due_at).toBe(clock.now() + 10_080 * MINUTE);
  for (const due_in_minutes of [0, 10_081]) {
    expect(await ask({ to: 'mira', message: 'x', due_in_minutes }, ana)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'due_in_minutes' } });
  }
  const overdue = async () => (await list(ana)).asks_by_me.find((row) => row.ask_id === ask_id)?.overdue;
  clock.advance(60 * MINUTE);
  expect(await overdue()).toBe(false);
  clock.advance(1);
  expect(await overdue()).toBe(true);
  expect(await reply({ ask_id, message: 'late' }, ana)).toMatchObject({ code: 'ASK_NOT_FOUND' });
});

test('an ask is sent, delivered by a heartbeat, read in a list and answered, and each receipt writes one event [coordination.ask.receipts]', async () => {
  const { ana, asked, beat, clock, events, list, mira, reply } = await team();
  const { ask_id } = await asked({ to: '@mira', message: 'May I rename parse()?', repo: 'app', paths: ['src/a.ts'] }, ana);
  const sent = clock.now();
  const seen = async () => (await list(ana)).asks_by_me[0];
  expect(await seen()).toMatchObject({ receipt: 'sent', sent_at: sent, delivered_at: null, read_at: null, answered_at: null });
  clock.advance(MINUTE);
  expect((await beat(mira)).waiting).toMatchObject([{ ask_id, from: 'ana', message: 'May I rename parse()?' }]);
  await beat(mira);
  expect(await seen()).toMatchObject({ receipt: 'delivered', delivered_at: sent + MINUTE, read_at: null });
  clock.advance(MINUTE);
  const [got] = (await list(mira)).asks_to_me;
  expect(got).toMatchObject({ ask_id, from: 'ana', repo: 'app', paths: ['src/a.ts'], receipt: 'read' });
  await list(mira);
  expect(await seen()).toMatchObject({ receipt: 'read', delivered_at: sent + MINUTE, read_at: sent + 2 * MINUTE });
  clock.advance(MINUTE);
  await reply({ ask_id, message: 'Yes.' }, mira);
  expect(await seen()).toMatchObject({ receipt: 'answered', answered_at: sent + 3 * MINUTE, answer: 'Yes.' });
  const kinds = (await events({ category: 'work' })).filter(({ subject }) => subject === ask_id).map(({ kind }) => kind);
  expect(kinds).toEqual(['ask.sent', 'ask.delivered', 'ask.read', 'ask.answered', 'ask.answer_delivered']);
});

test('an ask is shown as undelivered until a reply to an addressed agent contains it [coordination.ask.undelivered]', async () => {
  const { ana, asked, beat, developer, list, mira, reply } = await team();
  const { ask_id } = await asked({ to: 'codex@mira' }, ana);
  const undelivered = async () => (await list(ana)).asks_by_me[0]?.undelivered;
  const cursor = await developer('mira', 'cursor');
  expect((await beat(cursor)).waiting).toEqual([]);
  expect((await beat(await developer('mira'))).waiting).toEqual([]);
  expect((await list(cursor)).asks_to_me).toEqual([]);
  expect(await reply({ ask_id, message: 'no' }, cursor)).toMatchObject({ code: 'ASK_NOT_FOUND' });
  expect(await undelivered()).toBe(true);
  expect((await beat(mira)).waiting).toMatchObject([{ ask_id }]);
  expect(await undelivered()).toBe(false);
});

test('reply answers an ask, the first answer counts, and the asker gets it once, with the next heartbeat [coordination.reply.answers]', async () => {
  const { ana, asked, beat, developer, events, list, mira, reply } = await team();
  const { ask_id } = await asked({ to: 'mira' }, ana);
  const zoe = await developer('zoe');
  const foreign = await reply({ ask_id, message: 'I say yes' }, zoe);
  expect(foreign).toMatchObject({ status: 'error', code: 'ASK_NOT_FOUND', data: { field: 'ask_id' } });
  expect(await reply({ ask_id: 'ask_none', message: 'I say yes' }, zoe)).toEqual(JSON.parse(JSON.stringify(foreign).replaceAll(ask_id, 'ask_none')));
  expect(await reply({ ask_id, message: 'Yes.' }, mira)).toMatchObject({ status: 'ok', data: { ask_id, receipt: 'answered' } });
  const again = await reply({ ask_id, message: 'No.' }, mira);
  expect(again).toMatchObject({ status: 'warning', code: 'ASK_ALREADY_ANSWERED', next: expect.stringContaining('operation "ask", to "ana"') });
  expect(await events({ kind: 'ask.answered' })).toMatchObject([{ subject: ask_id, actor: mira.principal.actor, payload: { answer: 'Yes.' } }]);
  const other = await developer('ana', 'cursor');
  expect((await beat(other)).answers).toBeUndefined();
  expect((await list(other)).asks_by_me).toMatchObject([{ answer: 'Yes.', answer_delivered_at: null }]);
  expect((await beat(ana)).answers).toMatchObject([{ ask_id, from: 'mira', answer: 'Yes.' }]);
  expect((await beat(ana)).answers).toBeUndefined();
  expect((await list(ana)).asks_by_me).toMatchObject([{ receipt: 'answered', answer: 'Yes.', answer_delivered_at: expect.any(Number) }]);
  expect((await list(mira)).asks_to_me).toEqual([]);
});

test('a late reply says how to address the asker; an agent of the same developer is addressed by its agent type [coordination.reply.answers]', async () => {
  const { ana, ask, asked, developer, done, mira, reply } = await team();
  const next = async (from: TestCaller, by: TestCaller, to: string) => {
    const { ask_id } = await asked({ to }, from);
    await reply({ ask_id, message: 'Yes.' }, by);
    const { next: step } = (await reply({ ask_id, message: 'No.' }, by)) as { next: string };
    return /to "(.+)" and/.exec(step)?.[1] ?? step;
  };
  const own = await next(await developer('mira', 'cursor'), mira, 'codex@mira');
  expect(own).toBe('cursor@mira');
  expect(await ask({ to: own, message: 'One more thing.' }, mira)).toMatchObject({ status: 'ok' });
  // Agents whose token has no agent type cannot be addressed by other agents of the same developer.
  expect(await next(await developer('mira'), mira, 'codex@mira')).toBe('Nothing to do.');
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  expect(await next(ana, mira, 'mira')).toBe('Nothing to do.');
});

test('an addressee is a developer by name, @name or id, or their agents of one type; unknown and private developers get the same refusal', async () => {
  const { ana, ask, asked, developer, done, mira, beat } = await team();
  for (const to of ['mira', '@mira', mira.principal.developerId as string, 'codex@mira', 'codex@@mira']) await asked({ to }, ana);
  expect((await beat(mira)).waiting).toHaveLength(5);
  await developer('codex@home');
  await asked({ to: 'cursor@codex@home' }, ana);
  const unknown = await ask({ to: 'nobody', message: 'x' }, ana);
  expect(unknown).toMatchObject({ status: 'error', code: 'DEVELOPER_NOT_FOUND', data: { field: 'to' } });
  await done('developers.set_visibility', { developer: 'mira', visibility: 'private' });
  expect(await ask({ to: 'mira', message: 'x' }, ana)).toEqual(JSON.parse(JSON.stringify(unknown).replaceAll('nobody', 'mira')));
});

test('an agent cannot ask itself, but can ask another type of agent of its developer', async () => {
  const { ana, ask, asked, beat, developer } = await team();
  for (const to of ['ana', 'claude-code@ana'])
    expect(await ask({ to, message: 'x' }, ana)).toMatchObject({ code: 'ADDRESSEE_IS_CALLER', data: { field: 'to' } });
  const { ask_id } = await asked({ to: 'codex@ana' }, ana);
  expect((await beat(ana)).waiting).toEqual([]);
  expect((await beat(await developer('ana', 'codex'))).waiting).toMatchObject([{ ask_id }]);
});

test('a developer who went private still gets earlier asks and can answer them without being named', async () => {
  const { ana, asked, done, events, list, mira, reply } = await team();
  const { ask_id } = await asked({ to: 'mira' }, ana);
  await done('developers.set_visibility', { developer: 'mira', visibility: 'private' });
  expect((await list(mira)).asks_to_me).toMatchObject([{ ask_id }]);
  expect(await reply({ ask_id, message: 'Yes.' }, mira)).toMatchObject({ status: 'ok' });
  const [seen] = (await list(ana)).asks_by_me;
  expect(seen).toMatchObject({ to: '@private', answer: 'Yes.' });
  expect(JSON.stringify(seen)).not.toContain('mira');
  expect(JSON.stringify(await events({ category: 'work', kind: 'ask.sent' }))).not.toContain('"mira"');
});

test('reading the asks that wait for an agent does not mark them as delivered', async () => {
  const { ana, app, asked, clock, list, mira } = await team();
  const { ask_id } = await asked({ to: 'mira', message: 'long '.repeat(800) }, ana);
  const { reader } = app.store;
  const waiting = await waitingFor(reader, mira.principal.workspace, mira.principal, clock.now(), null);
  expect(waiting).toMatchObject({ waiting: [{ ask_id, message: expect.stringMatching(/…$/) }], answers: [], handoffs: [] });
  expect((await list(ana)).asks_by_me[0]?.undelivered).toBe(true);
  const ctx = { principal: mira.principal, workspace: mira.principal.workspace, session: null } as Parameters<typeof heartbeatListener>[1];
  await app.store.write(mira.principal.workspace, (tx) => markDelivered(tx, ctx, waiting));
  expect((await list(ana)).asks_by_me[0]?.receipt).toBe('delivered');
  const operator = { ...mira.principal, developerId: null };
  expect(await waitingFor(reader, mira.principal.workspace, operator, clock.now(), null)).toEqual({ waiting: [], answers: [], handoffs: [] });
});

test('an ask without an answer a week after its deadline is no longer listed', async () => {
  const { ana, asked, beat, clock, list, mira } = await team();
  await asked({ to: 'mira' }, ana);
  clock.advance(7 * 86_400_000 + 60 * MINUTE);
  expect((await beat(mira)).waiting).toEqual([]);
  expect(await list(ana)).toMatchObject({ asks_by_me: [] });
});

test('undelivered asks come before asks that are only unanswered', async () => {
  const { ana, asked, beat, mira } = await team();
  const ids = [];
  for (let i = 0; i < 12; i++) ids.push((await asked({ to: 'mira', due_in_minutes: 10 + i }, ana)).ask_id);
  const [first, second] = [(await beat(mira)).waiting, (await beat(mira)).waiting];
  expect(first.map(({ ask_id }) => ask_id)).toEqual(ids.slice(0, 10));
  expect(second.map(({ ask_id }) => ask_id)).toEqual([...ids.slice(10), ...ids.slice(0, 8)]);
});

test('undelivered asks come first, however many asks are unanswered', async () => {
  const { ana, app, asked, beat, mira } = await team();
  const old = (await asked({ to: 'mira', due_in_minutes: 1 }, ana)).ask_id;
  const row = await app.store.reader.selectFrom('asks').selectAll().where('id', '=', old).executeTakeFirstOrThrow();
  await app.store.write(row.workspace_id, async (tx) => {
    const others = Array.from({ length: 120 }, (_, i) => ({ ...row, id: `${old}${i}`, delivered_at: tx.now }));
    await tx.db.insertInto('asks').values(others).execute();
  });
  const { ask_id } = await asked({ to: 'mira', due_in_minutes: 600 }, ana);
  expect((await beat(mira)).waiting.slice(0, 2)).toMatchObject([{ ask_id: old }, { ask_id }]);
});

test("an answer goes to the session that asked while it is active, and to the agent's next session after that", async () => {
  const { ana, asked, beat, clock, list, mira, reply, tool } = await team();
  const start = async () => ((await tool('covibe_session', { operation: 'start' }, ana)).reply.data as { session_id: string }).session_id;
  const [one, two] = [await start(), await start()];
  const first = await asked({ to: 'mira', session_id: one }, ana);
  await reply({ ask_id: first.ask_id, message: 'Yes.' }, mira);
  expect((await beat(ana, { session_id: two })).answers).toBeUndefined();
  expect((await list(ana)).asks_by_me).toMatchObject([{ answer: 'Yes.', answer_delivered_at: null }]);
  expect((await beat(ana, { session_id: one })).answers).toMatchObject([{ ask_id: first.ask_id }]);
  for (const leave of [
    async () => void clock.advance(31 * MINUTE),
    async () => void (await tool('covibe_session', { operation: 'end', session_id: one }, ana)),
  ]) {
    await beat(ana, { session_id: one });
    const { ask_id } = await asked({ to: 'mira', session_id: one }, ana);
    await reply({ ask_id, message: 'Yes.' }, mira);
    await leave();
    expect((await beat(ana, { session_id: two })).answers).toMatchObject([{ ask_id }]);
  }
});

test('a companion heartbeat, which no agent reads, delivers nothing and renews no claim', async () => {
  const { ana, app, asked, beat, list, mira, reply, tool } = await team();
  const { ask_id } = await asked({ to: 'mira' }, ana);
  await tool('covibe_coordination', { operation: 'claim', repo: 'app', paths: ['a'], ttl_minutes: 1 }, mira);
  const expiry = async () => (await app.store.reader.selectFrom('claims').select('expires_at').executeTakeFirstOrThrow()).expires_at;
  const before = await expiry();
  for (const input of [{ companion_version: '1.0.0' }, { registered_repos: ['app'] }]) {
    const beaten = await beat(mira, input);
    expect([beaten.waiting, beaten.answers]).toEqual([undefined, undefined]);
  }
  expect((await list(ana)).asks_by_me).toMatchObject([{ receipt: 'sent', undelivered: true }]);
  expect(await expiry()).toBe(before);
  await reply({ ask_id, message: 'Yes.' }, mira);
  await beat(ana, { companion_version: '1.0.0' });
  expect((await beat(ana)).answers).toMatchObject([{ ask_id }]);
});

test('the team state marks the asks that it names as delivered, but no answers, because it does not contain their text', async () => {
  const { ana, asked, beat, list, mira, reply, tool } = await team();
  const ids: string[] = [];
  for (let i = 0; i < 11; i++) ids.push((await asked({ to: 'mira', due_in_minutes: 10 + i }, ana)).ask_id);
  const mine = await asked({ to: 'ana' }, mira);
  await reply({ ask_id: mine.ask_id, message: 'Of course.' }, ana);
  const state = (await tool('covibe_team', { operation: 'state' }, mira)).reply.data as { next_actions: { about: string }[] };
  const named = new Set(state.next_actions.map(({ about }) => about));
  const delivered = (await list(ana)).asks_by_me.filter(({ undelivered }) => !undelivered).map(({ ask_id }) => ask_id);
  expect(delivered.toSorted()).toEqual(ids.filter((id) => named.has(id)).toSorted());
  expect((await beat(mira)).answers).toMatchObject([{ ask_id: mine.ask_id, answer: 'Of course.' }]);
});
