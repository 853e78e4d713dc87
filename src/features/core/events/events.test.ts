import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Output } from '../../../kernel/contract.ts';
import type { NewEvent } from '../../../storage/journal.ts';
import { type TestApp, type TestCaller, testApp } from '../../../testing/app.ts';
import { instanceApp } from '../../../testing/scenes/instances.ts';
import { pretendedDisk } from '../../../testing/stand-ins/pretended-disk.ts';
import type { listEvents, verifyEvents } from './contract.ts';
import { type JournalStretch, searchEvents } from './store.ts';
import { Tally } from './tally.ts';

type Listed = Output<typeof listEvents>;
type Verified = Output<typeof verifyEvents>;

async function services() {
  const t = await testApp();
  const [ana, codex] = [await t.developer('ana'), await t.developer('mira', 'codex')];
  const { workspace } = t.operator.principal;
  const append = (events: readonly Partial<NewEvent>[]) =>
    t.app.store.append(
      workspace,
      events.map((event) => ({ category: 'work', kind: 'note.made', actor: 'operator', ...event }) as NewEvent),
    );
  const list = async (input: object, by: TestCaller = ana) => (await look(t, 'events.list', input, by)).reply.data as Listed;
  const kinds = async (input: object, by?: TestCaller) => (await list({ latest: 1_000, ...input }, by)).items.map(({ kind }) => kind);
  return { t, ana, codex, workspace, append, list, kinds };
}

/** A caller on the dashboard, because reads of the dashboard add no events. */
const look = (t: TestApp, name: string, args: object, by: TestCaller = t.operator) =>
  t.app.dispatch.action({ name, args, principal: { ...by.principal, web: true }, surface: 'dashboard' });

test('events are found by each of their fields and by text anywhere in them', async () => {
  const { append, codex, kinds } = await services();
  const actor = codex.principal.actor;
  await append([
    { kind: 'a.call', category: 'usage', actor, subject: 'tool:a', session: 'ses_1', payload: { outcome: 'denied', note: 'Say "Hello"\n100%_sure' } },
    { kind: 'b.call', actor: `developer:${codex.principal.developerId}`, payload: { nested: { outcome: 'denied' } } },
    { kind: 'B.Check', category: 'audit', payload: { passed: false } },
    { kind: 'c.check', category: 'audit', payload: { passed: true } },
  ]);
  expect(await kinds({ category: 'usage', kind: 'A.' })).toEqual(['a.call']);
  expect(await kinds({ kind: 'b.' })).toEqual(['b.call', 'B.Check']);
  expect(await kinds({ kind: '%' })).toEqual([]);
  expect(await kinds({ actor: 'codex@mira' })).toEqual(['a.call']);
  expect(await kinds({ actor })).toEqual(['a.call']);
  expect(await kinds({ actor: 'mira' })).toEqual(['a.call', 'b.call']);
  expect(await kinds({ actor: 'nobody' })).toEqual([]);
  expect(await kinds({ subject: 'tool:a' })).toEqual(['a.call']);
  expect(await kinds({ session: 'ses_1' })).toEqual(['a.call']);
  expect(await kinds({ outcome: 'denied' })).toEqual(['a.call', 'B.Check']);
  expect(await kinds({ outcome: 'passed', kind: 'c' })).toEqual(['c.check']);
  for (const text of ['say "hello"', '100%_SURE', 'tool:A', 'ses_1']) expect(await kinds({ text, kind: 'a.' }), text).toEqual(['a.call']);
  expect(await kinds({ text: '100x_sure' })).toEqual([]);
});

test('a developer hidden from the viewer cannot be found by id either, and page bounds do not reveal them', async () => {
  const { t, append, ana, codex, list, kinds } = await services();
  await append([{ kind: 'hidden.act', actor: codex.principal.actor, payload: { about: codex.principal.developerId } }]);
  await t.done('developers.set_visibility', { developer: 'mira', visibility: 'private' });
  const id = String(codex.principal.developerId);
  for (const filter of [{ actor: codex.principal.actor }, { actor: 'codex@mira' }, { actor: 'mira' }, { text: id }]) {
    const { items, looked } = await list({ latest: 1, ...filter }, ana);
    expect({ items, from: looked.from }, JSON.stringify(filter)).toEqual({ items: [], from: 1 });
  }
  expect(await kinds({ actor: '@private', kind: 'hidden' }, ana)).toEqual(['hidden.act']);
  expect(await kinds({ actor: codex.principal.actor, kind: 'hidden' }, t.operator)).toEqual(['hidden.act']);
  expect(await kinds({ actor: 'codex@mira', kind: 'hidden' }, codex)).toEqual(['hidden.act']);
});

test('a search in a long journal scans a limited number of events per call, returns how far it came, and misses no match', async () => {
  const { t, append, list, workspace } = await services();
  await append([{ kind: 'needle' }, ...Array.from({ length: 60 }, () => ({})), { kind: 'needle' }]);
  const end = (await t.events()).length;
  const all = (await t.events({ kind: 'needle' })).map(({ seq }) => seq);
  const search = (stretch: Pick<JournalStretch, 'start' | 'direction'>) =>
    searchEvents(t.app.store.reader, workspace, { ...stretch, begin: 1, end, limit: 5, reach: 40 }, { kind: 'needle' }, async (page) => [...page]);
  const newest = await search({ start: end, direction: 'back' });
  expect(newest.looked).toEqual({ from: end - 39, to: end });
  const older = await search({ start: newest.looked.from - 1, direction: 'back' });
  expect(older.looked).toEqual({ from: 1, to: end - 40 });
  expect([...older.items, ...newest.items].map(({ seq }) => seq)).toEqual(all);
  const on = await search({ start: Number(all[0]) + 1, direction: 'on' });
  expect(on).toMatchObject({ items: [], looked: { from: Number(all[0]) + 1, to: Number(all[0]) + 40 } });
  expect((await search({ start: on.looked.to + 1, direction: 'on' })).items.map(({ seq }) => seq)).toEqual(all.slice(1));
  // The events of one actor are found with an index, so this search is not limited.
  expect((await list({ latest: 1, actor: 'instance:nobody' })).looked).toEqual({ from: 1, to: end });
});

test('pages join without a gap in both directions', async () => {
  const { append, list } = await services();
  await append(Array.from({ length: 30 }, (_, index) => ({ kind: `n.${index}` })));
  const { head, items, looked } = await list({ latest: 10 });
  expect(looked).toEqual({ from: head.seq - 9, to: head.seq });
  const before = await list({ before: looked.from, limit: 10 });
  const after = await list({ after: before.looked.from - 1, limit: 20 });
  expect(after.items).toEqual([...before.items, ...items]);
  expect((await list({ after: head.seq })).looked).toEqual({ from: head.seq + 1, to: head.seq });
  expect((await list({ before: 1 })).items).toEqual([]);
});

test('the chain is verified in parts from the beginning to the end', async () => {
  const { t, append } = await services();
  await append(Array.from({ length: 20 }, () => ({})));
  const verified = await verify(t, 7);
  expect(verified.at(-1)).toMatchObject({ done: true, first_break: null });
  expect(verified.at(-1)?.root).toBe(verified.at(-1)?.head.hash);
  expect(verified.slice(0, 2).map(({ verified_to, done }) => [verified_to, done])).toEqual([
    [7, false],
    [14, false],
  ]);
  const { reply } = await look(t, 'events.verify', { after: 5, previous: '0'.repeat(64) });
  expect(reply.data).toMatchObject({ verified_to: 5, done: true, first_break: { seq: 6 } });
  expect((await look(t, 'events.verify', { after: 5 })).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'previous' } });
});

test.each([
  ['changed', (seq: number) => sql`update events set payload = '{"a":1}' where seq = ${seq}`, 10, /does not match its hash/],
  ['removed', (seq: number) => sql`delete from events where seq = ${seq}`, 10, /event 10 is missing/],
  ['removed in large part', (seq: number) => sql`delete from events where seq between ${seq} and ${seq + 9}`, 10, /event 10 is missing/],
  ['cut off at the end', (seq: number) => sql`delete from events where seq >= ${seq}`, 10, /the journal's head is at/],
])('verification of a journal that was %s stops at the break and names it', async (_, tamper, seq, reason) => {
  const { t, append, workspace } = await services();
  await append(Array.from({ length: 30 }, () => ({})));
  await t.app.store.write(workspace, async (tx) => {
    await tamper(seq).execute(tx.db);
  });
  const last = (await verify(t, 3)).at(-1);
  expect(last).toMatchObject({ verified_to: 9, done: true, first_break: { seq, reason: expect.stringMatching(reason) } });
});

async function verify(t: TestApp, limit: number): Promise<Verified[]> {
  const parts: Verified[] = [];
  for (let from = {}; parts.at(-1)?.done !== true && parts.length < 100; ) {
    const part = (await look(t, 'events.verify', { ...from, limit })).reply.data as Verified;
    parts.push(part);
    from = { after: part.verified_to, previous: part.root };
  }
  return parts;
}

test("others see no owner for the work of a private developer's instance, and cannot find it by name", async () => {
  const t = await instanceApp(pretendedDisk);
  await t.developer('mira');
  const ana = await t.developer('ana');
  const ben = await t.developer('ben');
  const signedIn = (caller: TestCaller, operator = false): TestCaller => ({
    ...caller,
    principal: { ...caller.principal, web: true, operator, runsAgents: operator },
  });
  const [owner, other] = [signedIn(ana), signedIn(ben)];
  await t.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const start = { repository_path: t.repository.path, type: 'coding', issue: 7, agent: 'tiny' };
  const { id } = (await t.done('instances.start', start, signedIn(ana, true))) as { id: string };
  const { principal } = await t.as(id);
  await t.app.store.append(principal.workspace, [{ category: 'work', kind: 'made', actor: principal.actor, subject: id, payload: { branch: 'ana/secret' } }]);
  const made = async (viewer: TestCaller, filter: object = { kind: 'made' }) => (await t.done('events.list', filter, viewer)).items;
  expect(await made(owner)).toMatchObject([{ actor: `instance:${id}`, payload: { branch: 'ana/secret' } }]);
  expect(await made(other)).toMatchObject([{ actor: '@private', subject: id, payload: {} }]);
  expect(JSON.stringify(await made(other))).not.toContain('ana/secret');
  expect(await made(other, { actor: `instance:${id}` })).toEqual([]);
});

test('a long word in an event does not slow the server down while somebody is hidden', async () => {
  const t = await testApp();
  await t.developer('mira');
  const ana = await t.developer('ana');
  await t.done('developers.set_visibility', { developer: 'mira', visibility: 'private' });
  const long = { category: 'work', kind: 'made', actor: 'operator', payload: { text: 'a'.repeat(8_000) } } as const;
  await t.app.store.append(
    ana.principal.workspace,
    Array.from({ length: 100 }, () => long),
  );
  const began = performance.now();
  const { items } = await t.done('events.list', { kind: 'made' }, { ...ana, principal: { ...ana.principal, web: true } });
  expect(items).toHaveLength(100);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('tool names invented by callers do not fill the memory: only the tools called last are counted', async () => {
  const { t, append, workspace } = await services();
  const call = (tool: string): Partial<NewEvent> => ({ category: 'usage', kind: 'tool.called', subject: `tool:${tool}`, payload: { outcome: 'denied' } });
  await append([call('clock'), call('first')]);
  for (let made = 0; made < 5_500; made += 500) await append([...Array.from({ length: 500 }, (_, index) => call(`invented-${made + index}`)), call('clock')]);
  const { tools } = await new Tally().read(t.app.store.reader, workspace, t.clock.now());
  expect(tools.size).toBe(5_000);
  expect(tools.get('tool:clock')?.durations).toHaveLength(12);
  expect(tools.has('tool:first')).toBe(false);
});
