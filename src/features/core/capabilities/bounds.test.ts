import { expect, test, vi } from 'vitest';
import type { Json } from '../../../kernel/relay.ts';
import { StoreBusy } from '../../../storage/errors.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { fixtureFeature } from '../../../testing/fixture.ts';
import { modern, relayApp } from '../../../testing/stand-ins/relay.ts';
import { until } from '../../../testing/until.ts';

const hi = { text: 'hi' };

/** Gives Ana these grants of `echo`, in this order. */
async function granted(...scopes: object[]) {
  const t = await testApp({ features: [fixtureFeature] });
  const ana = await t.developer('ana');
  const grant = (scope: object, action = 'tool.call.echo') => t.done('capabilities.grant', { action, token: ana.tokenId, scope });
  const ids: string[] = [];
  for (const scope of scopes) ids.push((await grant(scope)).grant_id as string);
  const uses = async () => {
    const { items } = (await t.done('capabilities.list', {})) as { items: { grant_id: string; uses: number }[] };
    return ids.map((id) => items.find(({ grant_id }) => grant_id === id)?.uses);
  };
  return { ...t, ana, ids, grant, uses, echo: () => t.tool('echo', hi, ana) };
}

async function waiting(t: Pick<TestApp, 'done'>): Promise<string> {
  return await until(async () => {
    const items = (await t.done('approvals.list', {})).items as { approval_id: string }[];
    expect(items).toHaveLength(1);
    return items[0]?.approval_id as string;
  });
}

const approve = async (t: Pick<TestApp, 'done'>) => await t.done('approvals.approve', { approval_id: await waiting(t) });
const refuse = async (t: Pick<TestApp, 'done'>) => await t.done('approvals.refuse', { approval_id: await waiting(t) });

test('a grant with `max_per_minute` refuses calls above the rate in any 60 seconds and returns when to call again', async () => {
  const t = await granted({ max_per_minute: 2 });
  expect((await t.echo()).isError).toBe(false);
  t.clock.advance(20_000);
  expect((await t.echo()).isError).toBe(false);
  t.clock.advance(10_000);
  expect((await t.echo()).reply).toMatchObject({
    code: 'CAPABILITY_DENIED',
    message: expect.stringContaining('its grant has reached its limit of calls per minute'),
    next: 'Repeat the call in 30 s.',
    data: { capability: 'tool.call.echo', retry_after_ms: 30_000 },
  });
  t.clock.advance(29_999);
  expect((await t.echo()).reply).toMatchObject({ next: 'Repeat the call in 1 s.', data: { retry_after_ms: 1 } });
  t.clock.advance(1);
  expect((await t.echo()).isError).toBe(false);
  expect((await t.echo()).reply).toMatchObject({ data: { retry_after_ms: 20_000 } });
  expect(await t.uses()).toEqual([3]);
});

test('the rate is counted across all servers, so exactly the allowed number of simultaneous calls passes', async () => {
  const here = await granted({ max_per_minute: 3 });
  const there = await testApp({ database: here.database, clock: here.clock });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? here : there).tool('echo', hi, here.ana)));
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(3);
  for (const { reply } of answers) if (reply.status !== 'ok') expect(reply).toMatchObject({ code: 'CAPABILITY_DENIED', data: { retry_after_ms: 60_000 } });
});

test('an unbounded grant is used before a counted one, and a counted one before one that needs approval', async () => {
  const t = await granted({ approve: true }, { max_uses: 1 }, {});
  for (let i = 0; i < 2; i++) expect((await t.echo()).isError).toBe(false);
  expect(await t.uses()).toEqual([0, 0, 0]);
  await t.done('capabilities.revoke', { grant_id: t.ids[2] });
  expect((await t.echo()).isError).toBe(false);
  expect(await t.uses()).toEqual([0, 1, 0]);
  const asked = t.echo();
  await approve(t);
  expect((await asked).isError).toBe(false);
});

test('if one grant is over its rate, another grant within its rate is used; a person is asked only if there is none', async () => {
  const t = await granted({ max_per_minute: 1 }, { max_per_minute: 1, max_uses: 1 }, { approve: true });
  for (let i = 0; i < 2; i++) expect((await t.echo()).isError).toBe(false);
  expect(await t.uses()).toEqual([1, 1, 0]);
  const asked = t.echo();
  await refuse(t);
  expect((await asked).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  t.clock.advance(60_000);
  expect((await t.echo()).isError).toBe(false);
  expect(await t.uses()).toEqual([2, 1, 0]);
});

test("no approval is requested for a call that the grant's rate would refuse", async () => {
  const t = await granted({ approve: true, max_per_minute: 1 });
  const first = t.echo();
  await approve(t);
  expect((await first).isError).toBe(false);
  expect((await t.echo()).reply).toMatchObject({ code: 'CAPABILITY_DENIED', data: { retry_after_ms: 60_000 } });
  t.clock.advance(60_000);
  const second = t.echo();
  await approve(t);
  expect((await second).isError).toBe(false);
});

test('a refused or lapsed approval consumes no use of the grant; an approved call does', async () => {
  const t = await granted({ approve: true, max_uses: 1 });
  const refused = t.echo();
  await refuse(t);
  expect((await refused).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  const late = t.echo();
  await waiting(t);
  t.clock.advance(600_000);
  expect((await late).reply).toMatchObject({ code: 'APPROVAL_TIMEOUT' });
  expect(await t.uses()).toEqual([0]);
  const made = t.echo();
  await approve(t);
  expect((await made).isError).toBe(false);
  expect(await t.uses()).toEqual([1]);
  expect((await t.echo()).reply).toMatchObject({ code: 'CAPABILITY_DENIED', message: expect.stringContaining('used up') });
});

test('if the store fails after a use was counted, the error says so', async () => {
  const t = await granted({ max_uses: 2 });
  vi.spyOn(t.app.store, 'append').mockRejectedValueOnce(new StoreBusy('the database cannot be reached'));
  expect((await t.echo()).reply).toMatchObject({ code: 'STORE_BUSY', message: 'The database is busy; nothing was written except this use of the grant.' });
  expect(await t.uses()).toEqual([1]);
});

test('if two approved calls wait for a grant with one use, one of them goes through', async () => {
  const t = await granted({ approve: true, max_uses: 1 });
  const calls = ['a', 'b'].map((text) => t.tool('echo', { text }, t.ana));
  const items = await until(async () => {
    const { items } = (await t.done('approvals.list', {})) as { items: { approval_id: string }[] };
    expect(items).toHaveLength(2);
    return items;
  });
  for (const { approval_id } of items) await t.done('approvals.approve', { approval_id });
  const answers = await Promise.all(calls);
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
  expect(await t.uses()).toEqual([1]);
});

test.each(['revoked', 'expired'] as const)(
  'a waiting call is denied if its grant is %s in the meantime, even if the call is approved or another grant exists',
  async (how) => {
    const t = await granted({ approve: true, expires_at: Date.UTC(2026, 0, 1) + 5_000 });
    const call = t.echo();
    await waiting(t);
    // The other grant also needs an approval, and nobody has approved a call for it.
    await t.grant({ approve: true });
    if (how === 'revoked') await t.done('capabilities.revoke', { grant_id: t.ids[0] });
    else t.clock.advance(5_001);
    await approve(t);
    expect((await call).reply).toMatchObject({
      code: 'CAPABILITY_DENIED',
      message: expect.stringContaining(how === 'revoked' ? 'was revoked' : 'has expired'),
    });
  },
);

test("calls of Covenant's own tools wait for approval too, whether the tools are granted one by one or by toolset", async () => {
  const t = await granted();
  await t.done('capabilities.revoke', { action: 'toolset.team', token: t.ana.tokenId });
  await t.grant({ approve: true }, 'toolset.team');
  const call = t.tool('covibe_fixture', { operation: 'change', what: 'held' }, t.ana);
  const approval_id = await waiting(t);
  expect((await t.done('approvals.list', {})).items).toMatchObject([{ name: 'covibe_fixture', server: null }]);
  expect(await t.events({ kind: 'fixture.changed' })).toEqual([]);
  await t.done('approvals.approve', { approval_id });
  expect((await call).body).toMatchObject({ status: 'ok', data: { seen: 'held' } });
  const [usage] = await t.events({ category: 'usage', kind: 'covibe_fixture.change' });
  expect(usage?.payload).toMatchObject({ approval_id, outcome: 'ok' });
});

test('lists include tools whose grant has a rate or needs approval, even over the rate, but not tools whose grant is used up', async () => {
  const t = await granted({ max_per_minute: 1 });
  const sees = async () => (await t.app.gate.visibility(t.ana.principal)).tool('echo', 'gateway');
  await t.echo();
  expect(await sees()).toBe(true);
  await t.done('capabilities.revoke', { grant_id: t.ids[0] });
  expect(await sees()).toBe(false);
  await t.grant({ approve: true });
  await t.grant({ approve: true }, 'resource.read.far');
  await t.grant({}, 'prompt.get.far_review');
  expect(await sees()).toBe(true);
  const visible = await t.app.gate.visibility(t.ana.principal);
  expect([visible.resource('far'), visible.resource('near'), visible.prompt('far_review'), visible.prompt('far')]).toEqual([true, false, true, false]);
});

test('an invalid scope is refused with the name of its field', async () => {
  const { action } = await testApp();
  const bad: [object, string][] = [
    [{ max_per_minute: 0 }, 'scope.max_per_minute'],
    [{ max_per_minute: 601 }, 'scope.max_per_minute'],
    [{ max_per_minute: 1.5 }, 'scope.max_per_minute'],
    [{ max_uses: 0 }, 'scope.max_uses'],
    [{ approve: 'yes' }, 'scope.approve'],
    [{ approve: 'Client' }, 'scope.approve'],
    [{ approves: true }, 'scope.approves'],
    [{ expires_at: -1 }, 'scope.expires_at'],
    [{ arguments: { allow: [] } }, 'scope.arguments.allow'],
    [{ arguments: { deny: [{}] } }, 'scope.arguments.'],
  ];
  for (const [scope, field] of bad) {
    const { reply } = await action('capabilities.grant', { action: 'tool.call.echo', scope });
    expect(reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: expect.stringContaining(field) } });
  }
});

test('the grant list and the grant event show rate and approval [capability.grant.shape]', async () => {
  const t = await granted({ max_per_minute: 5, approve: true }, { approve: 'client' });
  const { items } = (await t.done('capabilities.list', {})) as { items: { grant_id: string }[] };
  expect(items.find(({ grant_id }) => grant_id === t.ids[0])).toMatchObject({ scope: { max_per_minute: 5, approve: true }, status: 'live' });
  const events = await t.events({ kind: 'capability_granted' });
  expect(events.slice(-2).map(({ payload }) => payload)).toMatchObject([{ max_per_minute: 5, approve: true }, { approve: 'client' }]);
});

/** A tool that asks for input twice before it answers. Like a server without storage, it keeps its state only in `requestState`. */
async function rounds(scope: object) {
  const states: (string | undefined)[] = [];
  const t = await relayApp({
    far_ask: async (_args, { exchange }) => {
      const state = exchange?.rounds?.requestState;
      states.push(state);
      if (state === 'two') return { content: [{ type: 'text', text: 'done' }] };
      return {
        resultType: 'input_required',
        inputRequests: { name: { method: 'elicitation/create', params: {} } },
        requestState: state === 'one' ? 'two' : 'one',
      };
    },
    far_other: async () => ({ content: [] }),
  });
  const grant = async (name: string, caller = t.ana) =>
    (await t.done('capabilities.grant', { action: `tool.call.${name}`, token: caller.tokenId, scope })).grant_id as string;
  const grantId = await grant('far_ask');
  const round = (requestState?: string, more: object = {}, args: object = { a: 1 }, name = 'far_ask') =>
    t.call(name, args, {
      exchange: modern({ requestState, inputResponses: requestState ? { name: { action: 'accept' } } : undefined }, { capabilities: {} }),
      ...more,
    });
  const stateOf = (answer: Awaited<ReturnType<typeof round>>) => ((answer.relayed as { result: Json }).result.requestState as string) ?? '';
  const uses = async () =>
    ((await t.done('capabilities.list', {})) as { items: { grant_id: string; uses: number }[] }).items.find((g) => g.grant_id === grantId)?.uses;
  return { ...t, states, grant, grantId, round, stateOf, uses };
}

test('a call of three rounds is one use of its grant, and the other server gets its own state back', async () => {
  const t = await rounds({ max_uses: 1 });
  const one = t.stateOf(await t.round());
  expect(one).toMatch(/^cvr_[A-Za-z0-9_-]{43}$/);
  const two = t.stateOf(await t.round(one));
  expect(await t.round(two)).toMatchObject({ isError: false, body: { content: [{ text: 'done' }] } });
  expect(t.states).toEqual([undefined, 'one', 'two']);
  expect(await t.uses()).toBe(1);
  expect((await t.round()).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
  const outcomes = (await t.events({ category: 'usage', kind: 'far_ask' })).map(({ payload }) => [
    payload.outcome,
    (payload.grant as { id: string } | null)?.id ?? null,
  ]);
  expect(outcomes).toEqual([...['input_required', 'input_required', 'ok'].map((outcome) => [outcome, t.grantId]), ['denied', null]]);
  expect(JSON.stringify(await t.events())).not.toContain(one);
  expect(JSON.stringify(await t.app.store.reader.selectFrom('call_rounds').selectAll().execute())).not.toContain(one);
});

test('a round can be continued once, by the same caller, for the same call, within fifteen minutes', async () => {
  const t = await rounds({ max_uses: 50 });
  const ben = await t.developer('ben');
  await t.grant('far_ask', ben);
  await t.grant('far_other');
  const state = t.stateOf(await t.round());
  const wrong = [
    t.round(state, { principal: ben.principal }),
    t.round(state, {}, { a: 1 }, 'far_other'),
    t.round(state, {}, { a: 2 }),
    t.round(`cvr_${'A'.repeat(43)}`),
    t.round('cvr_'),
    t.round(`${state}\0`),
  ];
  for (const answer of await Promise.all(wrong)) expect(answer.reply).toMatchObject({ code: 'ROUND_UNKNOWN' });
  const both = await Promise.all([t.round(state), t.round(state)]);
  expect(both.filter(({ isError }) => isError).map(({ reply }) => reply)).toMatchObject([{ code: 'ROUND_UNKNOWN' }]);
  const late = t.stateOf(await t.round());
  t.clock.advance(15 * 60_000);
  expect((await t.round(late)).reply).toMatchObject({ code: 'ROUND_UNKNOWN' });
  await until(async () => expect(await t.app.store.reader.selectFrom('call_rounds').selectAll().execute()).toEqual([]));
  expect(t.states.filter((each) => each === 'one')).toHaveLength(1);
});

test('a later round must have the arguments that the grant allows, even if other arguments have the same digest', async () => {
  const t = await rounds({ max_uses: 5, arguments: { allow: [{ a: '\ufffd' }] } });
  const state = t.stateOf(await t.round(undefined, {}, { a: '\ufffd' }));
  expect((await t.round(state, {}, { a: '\ud800' })).reply).toMatchObject({ code: 'CAPABILITY_DENIED' });
  expect(t.states).toEqual([undefined]);
});

test('revoking a grant between two rounds ends the call', async () => {
  const t = await rounds({ max_uses: 5 });
  const state = t.stateOf(await t.round());
  await t.done('capabilities.revoke', { grant_id: t.grantId });
  await t.grant('far_ask');
  expect((await t.round(state)).reply).toMatchObject({ code: 'CAPABILITY_DENIED', message: expect.stringContaining('was revoked') });
});

test('a call of several rounds needs one approval', async () => {
  const t = await rounds({ approve: true });
  const first = t.round();
  const approval_id = await waiting(t);
  await t.done('approvals.approve', { approval_id });
  const two = t.stateOf(await t.round(t.stateOf(await first)));
  expect(await t.round(two)).toMatchObject({ isError: false });
  expect(await t.events({ kind: 'approval.requested' })).toHaveLength(1);
  const usage = await t.events({ category: 'usage', kind: 'far_ask' });
  expect(usage.map(({ payload }) => payload.approval_id)).toEqual(Array(3).fill(approval_id));
});

test("after the client answers the approval question, the tool's own rounds follow, each with its own state", async () => {
  const t = await rounds({ approve: 'client', max_uses: 1 });
  const forms = { capabilities: { elicitation: {} } };
  const asked = await t.call('far_ask', { a: 1 }, { exchange: modern({}, forms) });
  const requestState = t.stateOf(asked);
  expect(requestState).toMatch(/^cva_/);
  const inputResponses = { covenant_approval: { action: 'accept', content: { approve: true } } };
  const first = await t.call('far_ask', { a: 1 }, { exchange: modern({ requestState, inputResponses }, forms) });
  const second = await t.call('far_ask', { a: 1 }, { exchange: modern({ requestState: t.stateOf(first) }, forms) });
  const third = await t.call('far_ask', { a: 1 }, { exchange: modern({ requestState: t.stateOf(second) }, forms) });
  expect(third.body).toMatchObject({ content: [{ text: 'done' }] });
  expect(t.states).toEqual([undefined, 'one', 'two']);
  expect(await t.uses()).toBe(1);
});

test('an answer for an approval that is not needed any more is not passed on to the other server', async () => {
  const t = await rounds({ approve: 'client' });
  const { requestState } = ((await t.call('far_ask', {}, { exchange: modern() })).relayed as { result: Json }).result;
  await t.done('capabilities.grant', { action: 'tool.call.far_ask', token: t.ana.tokenId });
  const exchange = modern({ requestState: requestState as string, inputResponses: { covenant_approval: { action: 'accept' } } });
  expect((await t.call('far_ask', {}, { exchange })).relayed).toMatchObject({ result: { requestState: 'one' } });
  expect(t.states).toEqual([undefined]);
});

test("another server's state that looks like ours is returned to it; state over the size limit is not stored", async () => {
  const states: (string | undefined)[] = [];
  const t = await relayApp({
    far_mimic: async ({ state }, { exchange }) => {
      states.push(exchange?.rounds?.requestState);
      return { resultType: 'input_required', inputRequests: {}, requestState: state };
    },
  });
  await t.done('capabilities.grant', { action: 'tool.call.far_mimic', token: t.ana.tokenId });
  const mimicked = [`cvr_${'A'.repeat(43)}`, 'cva_apr_0', 'cvr_\0\ud800'];
  for (const state of mimicked) {
    const { requestState } = ((await t.call('far_mimic', { state }, { exchange: modern() })).relayed as { result: Json }).result;
    expect(requestState).not.toBe(state);
    await t.call('far_mimic', { state }, { exchange: modern({ requestState: requestState as string }) });
  }
  expect(states).toEqual(mimicked.flatMap((state) => [undefined, state]));
  const huge = await t.call('far_mimic', { state: `cvr_${'x'.repeat(64 * 1024)}` }, { exchange: modern() });
  expect(huge.reply).toMatchObject({ code: 'UPSTREAM_INVALID' });
});
