import { expect, test, vi } from 'vitest';
import type { Answer } from '../../kernel/dispatch.ts';
import type { Exchange, Json } from '../../kernel/relay.ts';
import { DEFAULT_WORKSPACE_ID } from '../../kernel/workspace.ts';
import type { TestApp, TestCaller } from '../../testing/app.ts';
import { legacy, modern, type RelayAppOptions, relayApp } from '../../testing/relay.ts';

const DEADLINE_MS = 600_000;

type Item = Record<string, unknown> & { approval_id: string };

const listed = async (t: Pick<TestApp, 'done'>, status?: string) => (await t.done('approvals.list', status ? { status } : {})).items as Item[];

/** The one call that waits, once it does. */
async function waiting(t: Pick<TestApp, 'done'>, count = 1): Promise<Item> {
  return await vi.waitFor(async () => {
    const items = await listed(t);
    expect(items).toHaveLength(count);
    return items.at(-1) as Item;
  });
}

const kinds = async (t: Pick<TestApp, 'events'>) =>
  (await t.events({ category: 'audit' })).map(({ kind }) => kind).filter((kind) => kind.startsWith('approval.'));

/** Ana may call `far_write`, each time with a person's word. */
async function held(options: RelayAppOptions & { scope?: object } = {}) {
  const made: Json[] = [];
  const exchanges: (Exchange | undefined)[] = [];
  const app = await relayApp(
    {
      far_write: async (args, ctx) => {
        made.push(args);
        exchanges.push(ctx.exchange);
        return { content: [{ type: 'text', text: 'written' }] };
      },
    },
    options,
  );
  const grant = (scope: object = {}, caller = app.ana) =>
    app.done('capabilities.grant', { action: 'tool.call.far_write', token: caller.tokenId, scope: { approve: true, ...scope } });
  const { grant_id } = await grant(options.scope);
  const person = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, kind: 'developer', web: true, operator: true } });
  return {
    ...app,
    made,
    exchanges,
    grant,
    grantId: grant_id as string,
    person,
    write: (args: unknown = { path: 'a' }, more = {}) => app.call('far_write', args, more),
  };
}

const ok = (answer: Answer) => expect(answer).toMatchObject({ isError: false, relayed: { result: { content: [{ text: 'written' }] } } });

test('a call by a grant with approve waits, is shown with who asks and what, and goes through once a person has approved it', async () => {
  const t = await held();
  const call = t.write({ path: '/etc/motd', text: 'hi' });
  const item = await waiting(t);
  expect(item).toEqual({
    approval_id: expect.stringMatching(/^apr_/),
    status: 'waiting',
    noun: 'tool',
    name: 'far_write',
    server: 'far',
    developer: 'ana',
    agent: 'codex',
    arguments: '{"path":"/etc/motd","text":"hi"}',
    arguments_bytes: 32,
    arguments_cut: false,
    arguments_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    grant_id: t.grantId,
    requested_at: t.clock.now(),
    deadline_at: t.clock.now() + DEADLINE_MS,
    decided_at: null,
    decided_by: null,
    decided_through: null,
    reason: null,
  });
  expect(t.made).toEqual([]);
  t.clock.advance(5_000);
  expect(await t.done('approvals.approve', { approval_id: item.approval_id.slice(-6) })).toMatchObject({
    status: 'approved',
    decided_by: 'operator',
    decided_through: 'api',
    arguments: null,
  });
  ok(await call);
  expect(t.made).toEqual([{ path: '/etc/motd', text: 'hi' }]);
  expect(await kinds(t)).toEqual(['approval.requested', 'approval.approved', 'approval.used']);
  expect(await listed(t, 'used')).toMatchObject([{ approval_id: item.approval_id, status: 'used' }]);
  expect(await listed(t)).toEqual([]);
});

test('a refused call is not made and its caller is told the reason; arguments are kept only while the call waits and never in the journal', async () => {
  const t = await held();
  const call = t.write({ path: 'my-secret-path' });
  const { approval_id } = await waiting(t);
  const stored = () => t.app.store.reader.selectFrom('approvals').select('arguments').execute();
  expect(JSON.stringify(await stored())).toContain('my-secret-path');
  await t.done('approvals.refuse', { approval_id, reason: 'Not on a Friday.' });
  const answer = await call;
  expect(answer.isError).toBe(true);
  expect(answer.reply).toMatchObject({
    status: 'error',
    code: 'APPROVAL_REFUSED',
    message: expect.stringContaining('"Not on a Friday."'),
    next: expect.stringMatching(/./),
    data: { approval_id, reason: 'Not on a Friday.' },
  });
  expect(t.made).toEqual([]);
  expect(await stored()).toEqual([{ arguments: null }]);
  expect(JSON.stringify(await t.events())).not.toMatch(/my-secret-path|Friday/);
});

test('where nobody decides by the deadline the caller is told what to do, also when no sweep has run', async () => {
  const t = await held();
  const call = t.write();
  const { approval_id } = await waiting(t);
  t.clock.advance(DEADLINE_MS - 1);
  expect(await listed(t)).toHaveLength(1);
  t.clock.advance(1);
  expect((await call).reply).toMatchObject({ status: 'blocked', code: 'APPROVAL_TIMEOUT', next: expect.stringContaining('covenant approvals list') });
  expect(await kinds(t)).toEqual(['approval.requested', 'approval.lapsed']);
  expect(await t.app.store.reader.selectFrom('approvals').select(['status', 'arguments']).execute()).toEqual([{ status: 'lapsed', arguments: null }]);
  expect((await t.action('approvals.approve', { approval_id })).reply).toMatchObject({ code: 'APPROVAL_CLOSED', message: expect.stringContaining('nobody') });
});

test('the sweep lapses what is overdue in every workspace: calls that wait and approved ones that nobody made', async () => {
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
  await vi.waitFor(async () => expect(await t.events({ kind: 'approval.requested' }, 'ws_beta')).toHaveLength(1));
  gone.abort();
  for (const answer of await Promise.all(calls)) expect(answer.reply).toMatchObject({ code: 'CALLER_GONE' });
  await t.done('approvals.approve', { approval_id });
  t.clock.advance(DEADLINE_MS);
  await vi.waitFor(async () => {
    for (const workspace of [DEFAULT_WORKSPACE_ID, 'ws_beta']) expect(await t.events({ kind: 'approval.lapsed' }, workspace)).toHaveLength(1);
  });
  expect(await t.app.store.reader.selectFrom('approvals').select(['status', 'arguments']).execute()).toEqual(
    Array(2).fill({ status: 'lapsed', arguments: null }),
  );
});

test('whoever gave up and calls again with the same arguments finds the approval, waiting or approved; it lets one call through', async () => {
  const t = await held();
  const gone = new AbortController();
  const first = t.write({ path: 'a' }, { signal: gone.signal });
  const { approval_id } = await waiting(t);
  gone.abort();
  expect((await first).reply).toMatchObject({ code: 'CALLER_GONE' });
  const second = t.write({ path: 'a' }, { signal: AbortSignal.abort() });
  expect((await second).reply).toMatchObject({ code: 'CALLER_GONE' });
  expect(await waiting(t)).toMatchObject({ approval_id });
  await t.done('approvals.approve', { approval_id });
  // Another call is another approval.
  const other = t.write({ path: 'b' });
  const { approval_id: otherId } = await waiting(t);
  expect(otherId).not.toBe(approval_id);
  ok(await t.write({ path: 'a' }));
  expect(t.made).toEqual([{ path: 'a' }]);
  const again = t.write({ path: 'a' });
  await waiting(t, 2);
  for (const item of await listed(t)) await t.done('approvals.refuse', { approval_id: item.approval_id });
  for (const answer of await Promise.all([other, again])) expect(answer.reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  expect(t.made).toHaveLength(1);
});

test('an approved call that nobody makes can be made for as long again as there was to decide, and no longer', async () => {
  const t = await held();
  const approve = async (path: string) => {
    const gone = new AbortController();
    const call = t.write({ path }, { signal: gone.signal });
    const { approval_id } = await waiting(t);
    gone.abort();
    await call;
    t.clock.advance(DEADLINE_MS - 1);
    await t.done('approvals.approve', { approval_id });
  };
  await approve('a');
  t.clock.advance(DEADLINE_MS - 1);
  ok(await t.write({ path: 'a' }));
  await approve('b');
  // Also where no sweep has said so yet.
  await t.app.store.write(DEFAULT_WORKSPACE_ID, (tx) => tx.db.updateTable('approvals').set({ deadline_at: tx.now }).where('status', '=', 'approved').execute());
  const late = t.write({ path: 'b' });
  await t.done('approvals.refuse', { approval_id: (await waiting(t)).approval_id });
  expect((await late).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
});

test('one approval lets exactly one of many equal calls through, whichever server they reach; the others need their own', async () => {
  const here = await held();
  const there = await relayApp({ far_write: async (args) => ({ content: [], made: here.made.push(args) }) }, { database: here.database, clock: here.clock });
  const equal = { path: 'same' };
  const calls = Array.from({ length: 6 }, (_, i) => (i % 2 ? here : there).call('far_write', equal, { principal: here.ana.principal }));
  const { approval_id } = await waiting(here);
  await there.done('approvals.approve', { approval_id });
  await vi.waitFor(() => expect(here.made).toHaveLength(1));
  // Each of the others hears of it in its own time, and then asks for itself.
  let done = 0;
  for (const call of calls) void call.then(() => done++);
  await vi.waitFor(
    async () => {
      for (const item of await listed(here)) await here.done('approvals.refuse', { approval_id: item.approval_id });
      expect(done).toBe(calls.length);
    },
    { timeout: 20_000 },
  );
  const answers = await Promise.all(calls);
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
  expect(here.made).toEqual([equal]);
  expect(await here.events({ kind: 'approval.used' })).toHaveLength(1);
});

test('the first decision counts; who comes second is told who decided what, and the call is not changed by it', async () => {
  const t = await held();
  const mira = t.person(await t.developer('mira'));
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

test('only people with operator rights see and decide: no token of an agent or developer does, and no member without them', async () => {
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
  await t.done('approvals.approve', { approval_id }, t.person(ben));
  ok(await call);
});

test('a private developer is @private, with no agent, to the others who decide', async () => {
  const t = await held();
  await t.app.store.write(DEFAULT_WORKSPACE_ID, (tx) => tx.db.updateTable('developers').set({ visibility: 'private' }).where('name', '=', 'ana').execute());
  const call = t.write();
  const item = await waiting(t);
  expect(item).toMatchObject({ developer: '@private', agent: null });
  await t.done('approvals.refuse', { approval_id: item.approval_id });
  await call;
});

test('a caller that goes away ends its call at once, and the approval stays open', async () => {
  const t = await held();
  const gone = new AbortController();
  const call = t.write({ path: 'a' }, { signal: gone.signal });
  await waiting(t);
  gone.abort();
  expect((await call).reply).toMatchObject({ code: 'CALLER_GONE' });
  expect(await listed(t)).toHaveLength(1);
  await t.dispatch.idle();
});

test('a server that stops tells those who wait', async () => {
  const t = await held();
  const call = t.write();
  await waiting(t);
  t.dispatch.shutDown();
  expect((await call).reply).toMatchObject({ code: 'SHUTTING_DOWN' });
});

test('while it waits, a client that asked for progress hears of it every ten seconds, and what the call reports later still rises', async () => {
  const t = await held();
  const told: Json[] = [];
  const call = t.write({ path: 'a' }, { exchange: { capabilities: {}, meta: {}, progress: (params: Json) => told.push(params) } });
  const { approval_id } = await waiting(t);
  for (const count of [1, 2]) {
    t.clock.advance(9_999);
    t.clock.advance(1);
    await vi.waitFor(() => expect(told).toHaveLength(count));
  }
  expect(told.map(({ progress }) => progress)).toEqual([...told.map(({ progress }) => progress as number)].sort((a, b) => a - b));
  expect(told[0]?.message).toBe('Waiting for a person to approve this call of far_write (590 s left).');
  await t.done('approvals.approve', { approval_id });
  ok(await call);
  for (const progress of [0, 1, 2]) t.exchanges[0]?.progress?.({ progress });
  expect(told.slice(2)).toEqual([{ progress: 1 }, { progress: 2 }]);
});

test('arguments of more than 32 KiB are shown in part, and said to be', async () => {
  const t = await held();
  const args = { text: 'ü'.repeat(40_000) };
  const call = t.write(args);
  const item = await waiting(t);
  expect(item).toMatchObject({ arguments_cut: true, arguments_bytes: Buffer.byteLength(JSON.stringify(args)) });
  expect(Buffer.byteLength(item.arguments as string)).toBeLessThanOrEqual(32 * 1024);
  expect(item.arguments).toMatch(/^\{"text":"ü+$/);
  await t.done('approvals.approve', { approval_id: item.approval_id });
  ok(await call);
});

test('what cannot be shown exactly as it is cannot be approved', async () => {
  const t = await held();
  let deep: unknown = 'x';
  for (let i = 0; i < 20_000; i++) deep = [deep];
  for (const args of [{ deep }, { half: '\ud800' }]) {
    expect((await t.write(args)).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'arguments' } });
  }
  expect(await kinds(t)).toEqual([]);
});

test('a caller can have no more than twenty calls wait', async () => {
  const t = await held();
  const calls = Array.from({ length: 20 }, (_, i) => t.write({ i }));
  await waiting(t, 20);
  expect((await t.write({ i: 20 })).reply).toMatchObject({ code: 'TOO_MANY_APPROVALS' });
  for (const { approval_id } of await listed(t)) await t.done('approvals.refuse', { approval_id });
  await Promise.all(calls);
  const more = t.write({ i: 20 });
  await t.done('approvals.approve', { approval_id: (await waiting(t)).approval_id });
  ok(await more);
});

test('nobody is asked for a call that would be refused all the same: an unknown or withheld tool, wrong arguments of our own', async () => {
  const t = await held();
  for (const action of ['tool.call.nope', 'tool.call.covibe_fixture'])
    await t.done('capabilities.grant', { action, token: t.ana.tokenId, scope: { approve: true } });
  await t.done('capabilities.revoke', { action: 'toolset.team', token: t.ana.tokenId });
  t.withheld.add('far_write');
  expect((await t.call('nope')).reply).toMatchObject({ code: 'UNKNOWN_TOOL' });
  expect((await t.write()).reply).toMatchObject({ code: 'TOOL_WITHHELD' });
  expect((await t.call('covibe_fixture', { operation: 'look', waht: 1 })).body).toMatchObject({
    status: 'error',
    data: { code: 'INVALID_INPUT', field: 'waht' },
  });
  expect(await kinds(t)).toEqual([]);
  expect((await t.events({ kind: 'CapabilityCheck' })).map(({ payload }) => [payload.agent_id, payload.passed, payload.approval])).toEqual([
    ['tool:nope', true, 'required'],
    ['tool:far_write', true, 'required'],
    ['tool:covibe_fixture', true, 'required'],
  ]);
});

test('a token that was revoked while its call waited makes no call', async () => {
  const t = await held();
  const call = t.write();
  const { approval_id } = await waiting(t);
  await t.done('tokens.revoke', { token_id: t.ana.tokenId });
  await t.done('approvals.approve', { approval_id });
  expect((await call).reply).toMatchObject({ code: 'TOKEN_REVOKED' });
  expect(t.made).toEqual([]);
});

test('a client of the newer revisions is asked by a result, and its answer decides', async () => {
  const t = await held();
  const asked = await t.write({ path: 'a' }, { exchange: modern() });
  const { result } = asked.relayed as { result: Json };
  const [item] = await listed(t);
  expect(result).toEqual({
    resultType: 'input_required',
    requestState: `cva_${item?.approval_id}`,
    inputRequests: {
      covenant_approval: {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: expect.stringContaining('far_write?\nArguments: {"path":"a"}'),
          requestedSchema: { type: 'object', properties: { approve: expect.objectContaining({ type: 'boolean' }) }, required: ['approve'] },
        },
      },
    },
  });
  const requestState = result.requestState as string;
  const answer = (action: string, content?: object, own: object = {}) =>
    modern({ requestState, inputResponses: { covenant_approval: { action, ...(content && { content }) }, ...own } });
  // Whoever asks again is asked the same question.
  expect((await t.write({ path: 'a' }, { exchange: modern() })).relayed).toEqual({ result });
  ok(await t.write({ path: 'a' }, { exchange: answer('accept', { approve: true }, { theirs: { action: 'accept' } }) }));
  expect(t.exchanges[0]?.rounds).toEqual({ inputResponses: { theirs: { action: 'accept' } } });
  expect(await listed(t, 'used')).toMatchObject([{ decided_by: 'ana', decided_through: 'elicitation' }]);
  const usage = (await t.events({ category: 'usage', kind: 'far_write' })).map(({ payload }) => [payload.outcome, payload.approval_id ?? null]);
  expect(usage).toEqual([
    ['input_required', null],
    ['input_required', null],
    ['ok', item?.approval_id],
  ]);
  // The same answer again opens nothing.
  expect((await t.write({ path: 'a' }, { exchange: answer('accept', { approve: true }) })).reply).toMatchObject({ code: 'APPROVAL_UNKNOWN' });
  expect(t.made).toHaveLength(1);
});

test.each([
  ['decline', undefined],
  ['accept', { approve: false }],
])('%s %j refuses', async (action, content) => {
  const t = await held();
  const { result } = (await t.write({ path: 'a' }, { exchange: modern() })).relayed as { result: Json };
  const exchange = modern({ requestState: result.requestState as string, inputResponses: { covenant_approval: { action, content } } });
  expect((await t.write({ path: 'a' }, { exchange })).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  expect(t.made).toEqual([]);
});

test('a client with nobody there waits for the dashboard or the command line', async () => {
  const t = await held();
  const { result } = (await t.write({ path: 'a' }, { exchange: modern() })).relayed as { result: Json };
  const exchange = modern({ requestState: result.requestState as string, inputResponses: { covenant_approval: { action: 'cancel' } } });
  const call = t.write({ path: 'a' }, { exchange });
  await vi.waitFor(async () => expect((await t.events({ kind: 'CapabilityCheck' })).filter(({ payload }) => payload.approval)).toHaveLength(2));
  await t.done('approvals.approve', { approval_id: (await waiting(t)).approval_id });
  ok(await call);
});

test("the state of another caller's approval, of another call, or of none is refused and decides nothing", async () => {
  const t = await held();
  const ben = await t.developer('ben', 'codex');
  await t.grant({}, ben);
  const { result } = (await t.write({ path: 'a' }, { exchange: modern() })).relayed as { result: Json };
  const yes = { covenant_approval: { action: 'accept', content: { approve: true } } };
  const exchange = modern({ requestState: result.requestState as string, inputResponses: yes });
  const attempts = [
    t.write({ path: 'a' }, { exchange, principal: ben.principal }),
    t.write({ path: 'b' }, { exchange }),
    t.write({ path: 'a' }, { exchange: modern({ requestState: 'cva_apr_00000000000000000000000000', inputResponses: yes }) }),
  ];
  for (const answer of await Promise.all(attempts)) expect(answer.reply).toMatchObject({ code: 'APPROVAL_UNKNOWN' });
  expect(t.made).toEqual([]);
  expect(await listed(t)).toHaveLength(1);
});

test('a client of the older revisions is asked on its session; its answer decides, unless somebody was quicker', async () => {
  const t = await held();
  const answers: ((answer: Json) => void)[] = [];
  const aborted: boolean[] = [];
  const ask: NonNullable<Exchange['ask']> = (method, params, signal) => {
    expect([method, params.mode]).toEqual(['elicitation/create', 'form']);
    return new Promise((resolve, reject) => {
      answers.push(resolve);
      signal.addEventListener('abort', () => {
        aborted.push(true);
        reject(signal.reason);
      });
    });
  };
  const first = t.write({ path: 'a' }, { exchange: legacy(ask) });
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  answers[0]?.({ action: 'accept', content: { approve: true } });
  ok(await first);
  expect(await listed(t, 'used')).toMatchObject([{ decided_through: 'elicitation' }]);
  const second = t.write({ path: 'b' }, { exchange: legacy(ask) });
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  await t.done('approvals.refuse', { approval_id: (await waiting(t)).approval_id });
  expect((await second).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  expect(aborted).toContain(true);
});

test('a client that cannot ask after all, or has nobody there, leaves the decision to the others', async () => {
  const t = await held();
  const clients: Exchange[] = [
    legacy(async () => ({ action: 'cancel' })),
    legacy(() => Promise.reject(new Error('no window'))),
    { capabilities: { elicitation: { url: {} } }, meta: {}, rounds: {} },
    { capabilities: {}, meta: {}, rounds: {} },
  ];
  for (const [index, exchange] of clients.entries()) {
    const call = t.write({ index }, { exchange });
    await t.done('approvals.approve', { approval_id: (await waiting(t)).approval_id });
    ok(await call);
  }
});

test('decided in one server, it is heard in the other', async () => {
  const here = await held();
  const there = await relayApp({}, { database: here.database, clock: here.clock });
  const call = here.write();
  const { approval_id } = await waiting(there);
  await there.done('approvals.approve', { approval_id });
  ok(await call);
});

test('the events of an approval name it, the call, the grant and the token, and how it was decided', async () => {
  const t = await held();
  const call = t.write();
  const { approval_id, arguments_sha256 } = await waiting(t);
  await t.done('approvals.approve', { approval_id });
  await call;
  const events = (await t.events({ category: 'audit' })).filter(({ kind }) => kind.startsWith('approval.'));
  const payload = { approval_id, arguments_sha256, grant_id: t.grantId, name: 'far_write', noun: 'tool', server: 'far', token_id: t.ana.tokenId };
  expect(events.map(({ kind, actor, payload }) => [kind, actor, payload])).toEqual([
    ['approval.requested', t.ana.principal.actor, { ...payload, through: null }],
    ['approval.approved', 'operator', { ...payload, through: 'api' }],
    ['approval.used', t.ana.principal.actor, { ...payload, through: 'api' }],
  ]);
});
