import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { TestCaller } from '../../../testing/app.ts';
import { testClock } from '../../../testing/clock.ts';
import { DEADLINE_MS, held, kinds, listed, listening, waiting, wentThrough } from '../../../testing/scenes/approvals.ts';
import { relayApp } from '../../../testing/stand-ins/relay.ts';
import { until } from '../../../testing/until.ts';

const person = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, kind: 'developer', web: true, operator: true } });

test('without a decision by the deadline the caller gets the next step, even if no sweep has run', async () => {
  // Sweeps start together with the server, so this server gets a clock that never runs them.
  const { every, ...still } = testClock();
  const clock = { ...still, every: (): (() => void) => () => {} };
  const t = await held({ clock });
  Object.assign(clock, { every });
  const call = t.write();
  const { approval_id } = await waiting(t);
  t.clock.advance(DEADLINE_MS - 1);
  expect(await listed(t)).toHaveLength(1);
  t.clock.advance(1);
  expect((await call).reply).toMatchObject({ status: 'blocked', code: 'APPROVAL_TIMEOUT', next: expect.stringContaining('covenant approvals list') });
  expect(await kinds(t)).toEqual(['approval.requested', 'approval.lapsed']);
  expect(await t.app.store.reader.selectFrom('approvals').select(['status', 'arguments']).execute()).toEqual([{ status: 'lapsed', arguments: null }]);
  expect((await t.action('approvals.approve', { approval_id })).reply).toMatchObject({
    code: 'APPROVAL_CLOSED',
    message: expect.stringContaining('not decided in time'),
  });
});

test('in every workspace, the sweep marks overdue approvals as lapsed: calls that nobody decided on, and approved calls that were not made', async () => {
  const t = await held();
  const zoe = await t.developer('zoe', undefined, 'ws_beta');
  const gone = new AbortController();
  const elsewhere = { principal: zoe.principal, signal: gone.signal };
  await t.app.store.write('ws_beta', async (tx) => {
    const [grant] = await tx.db.selectFrom('grants').selectAll().where('id', '=', t.grantId).execute();
    if (grant)
      await tx.db
        .insertInto('grants')
        .values({ ...grant, workspace_id: 'ws_beta', id: 'grant_beta', subject: `token:${zoe.tokenId}` })
        .execute();
  });
  const calls = [t.write({ path: 'a' }, { signal: gone.signal }), t.write({ path: 'b' }, elsewhere)];
  const { approval_id } = await waiting(t);
  await until(async () => expect(await t.events({ kind: 'approval.requested' }, 'ws_beta')).toHaveLength(1));
  gone.abort();
  for (const answer of await Promise.all(calls)) expect(answer.reply).toMatchObject({ code: 'CALLER_GONE' });
  await t.done('approvals.approve', { approval_id });
  t.clock.advance(DEADLINE_MS);
  await until(async () => {
    for (const workspace of [DEFAULT_WORKSPACE_ID, 'ws_beta']) expect(await t.events({ kind: 'approval.lapsed' }, workspace)).toHaveLength(1);
  });
  expect(await t.app.store.reader.selectFrom('approvals').select(['status', 'arguments']).execute()).toEqual(
    Array(2).fill({ status: 'lapsed', arguments: null }),
  );
});

test('a caller that stops waiting and repeats the call with the same arguments gets the same approval, which lets one call through', async () => {
  const t = await held();
  const gone = new AbortController();
  const first = t.write({ path: 'a' }, { signal: gone.signal });
  const { approval_id } = await waiting(t);
  gone.abort();
  expect((await first).reply).toMatchObject({ code: 'CALLER_GONE' });
  const { exchange, waits } = listening(t);
  const goneAgain = new AbortController();
  const second = t.write({ path: 'a' }, { exchange, signal: goneAgain.signal });
  await waits();
  expect(await waiting(t)).toMatchObject({ approval_id });
  goneAgain.abort();
  expect((await second).reply).toMatchObject({ code: 'CALLER_GONE' });
  await t.done('approvals.approve', { approval_id });
  // Another call needs another approval.
  const other = t.write({ path: 'b' });
  const { approval_id: otherId } = await waiting(t);
  expect(otherId).not.toBe(approval_id);
  wentThrough(await t.write({ path: 'a' }));
  expect(t.made).toEqual([{ path: 'a' }]);
  const again = t.write({ path: 'a' });
  await waiting(t, 2);
  for (const item of await listed(t)) await t.done('approvals.refuse', { approval_id: item.approval_id });
  for (const answer of await Promise.all([other, again])) expect(answer.reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  expect(t.made).toHaveLength(1);
});

test('an approved call can be made for as long after the approval as people had to decide', async () => {
  const t = await held();
  const approve = async (path: string) => {
    const gone = new AbortController();
    const call = t.write({ path }, { signal: gone.signal });
    const { approval_id } = await waiting(t);
    gone.abort();
    await call;
    t.clock.advance(DEADLINE_MS - 1);
    expect(await t.done('approvals.approve', { approval_id })).toMatchObject({ deadline_at: t.clock.now() + DEADLINE_MS });
  };
  await approve('a');
  t.clock.advance(DEADLINE_MS - 1);
  wentThrough(await t.write({ path: 'a' }));
  await approve('b');
  // The approval has lapsed even before a sweep records that.
  await t.app.store.write(DEFAULT_WORKSPACE_ID, (tx) => tx.db.updateTable('approvals').set({ deadline_at: tx.now }).where('status', '=', 'approved').execute());
  const late = t.write({ path: 'b' });
  await t.done('approvals.refuse', { approval_id: (await waiting(t)).approval_id });
  expect((await late).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
});

test('one approval lets exactly one of many equal calls through, on any server; each other call needs its own approval', async () => {
  const here = await held();
  const there = await relayApp({ far_write: async (args) => ({ content: [], made: here.made.push(args) }) }, { database: here.database, clock: here.clock });
  const equal = { path: 'same' };
  const calls = Array.from({ length: 6 }, (_, i) => (i % 2 ? here : there).call('far_write', equal, { principal: here.ana.principal }));
  const { approval_id } = await waiting(here);
  await there.done('approvals.approve', { approval_id });
  await until(() => expect(here.made).toHaveLength(1));
  // The other calls notice at different times that the approval was used. Each of them then requests a new approval.
  let done = 0;
  for (const call of calls) void call.then(() => done++);
  await until(async () => {
    for (const item of await listed(here)) await here.done('approvals.refuse', { approval_id: item.approval_id });
    expect(done).toBe(calls.length);
  });
  const answers = await Promise.all(calls);
  expect(answers.map(({ reply }) => ('code' in reply ? reply.code : reply.status)).sort()).toEqual([...Array(5).fill('APPROVAL_REFUSED'), 'ok']);
  expect(here.made).toEqual([equal]);
  expect(await here.events({ kind: 'approval.used' })).toHaveLength(1);
});

test('the first decision counts; a later decision changes nothing and is refused with the name of the first decider', async () => {
  const t = await held();
  const mira = person(await t.developer('mira'));
  const call = t.write();
  const { approval_id } = await waiting(t);
  const both = await Promise.all([t.action('approvals.refuse', { approval_id, reason: 'no' }, mira), t.action('approvals.approve', { approval_id })]);
  expect(both[0]?.isError).toBe(false);
  expect(both[1]?.reply).toMatchObject({
    code: 'APPROVAL_CLOSED',
    message: expect.stringContaining('was refused by mira'),
    data: { field: 'approval_id', decided_by: 'mira', decision: 'refused' },
  });
  expect((await call).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  expect((await t.action('approvals.approve', { approval_id: 'ZZZZ' })).reply).toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
});

test('only people with operator rights can list and decide approvals; agent and developer tokens and other members cannot', async () => {
  const t = await held();
  const call = t.write();
  const { approval_id } = await waiting(t);
  const ben = await t.developer('ben');
  const member: TestCaller = { ...ben, principal: { ...ben.principal, web: true } };
  for (const caller of [t.ana, ben, member]) {
    for (const [name, args] of [
      ['approvals.list', {}],
      ['approvals.approve', { approval_id }],
      ['approvals.refuse', { approval_id }],
    ] as const)
      expect((await t.action(name, args, caller)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  }
  await t.done('approvals.approve', { approval_id }, person(ben));
  wentThrough(await call);
});

test('other people who decide see a private developer as @private, and do not see the agent', async () => {
  const t = await held();
  await t.app.store.write(DEFAULT_WORKSPACE_ID, (tx) => tx.db.updateTable('developers').set({ visibility: 'private' }).where('name', '=', 'ana').execute());
  const call = t.write();
  const item = await waiting(t);
  expect(item).toMatchObject({ developer: '@private', agent: null });
  await t.done('approvals.refuse', { approval_id: item.approval_id });
  await call;
});
