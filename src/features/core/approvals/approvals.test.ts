import { expect, test, vi } from 'vitest';
import { DEADLINE_MS, held, kinds, listed, listening, waiting, wentThrough } from '../../../testing/scenes/approvals.ts';
import { until } from '../../../testing/until.ts';

test('a call under a grant with `approve` waits for a person, who sees the caller and the arguments; it goes through after approval', async () => {
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
    decided_at: t.clock.now(),
    arguments: null,
  });
  wentThrough(await call);
  expect(t.made).toEqual([{ path: '/etc/motd', text: 'hi' }]);
  expect(await kinds(t)).toEqual(['approval.requested', 'approval.approved', 'approval.used']);
  expect(await listed(t, 'used')).toMatchObject([{ approval_id: item.approval_id, status: 'used' }]);
  expect(await listed(t)).toEqual([]);
});

test('a refused call is not made and returns the reason; arguments are stored only while the call waits and never in the journal', async () => {
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
  expect(await t.events({ kind: 'approval.refused' })).toMatchObject([{ actor: 'operator', subject: approval_id, payload: { through: 'api' } }]);
});

test('a server that stops answers the waiting calls', async () => {
  const t = await held();
  const call = t.write();
  await waiting(t);
  t.dispatch.shutDown();
  expect((await call).reply).toMatchObject({ code: 'SHUTTING_DOWN' });
});

test("a waiting call reports progress every ten seconds to a client that wants it, and the call's own progress still rises afterwards", async () => {
  const t = await held();
  const { told, exchange, waits } = listening(t);
  const call = t.write({ path: 'a' }, { exchange });
  const { approval_id, deadline_at } = await waiting(t);
  const message = () =>
    `Waiting for a person to approve this call of far_write on the dashboard or with \`covenant approvals approve ${approval_id}\` (${((deadline_at as number) - t.clock.now()) / 1000} s left).`;
  await waits();
  const messages = [message()];
  const reads = vi.spyOn(t.app.store.reader, 'selectFrom');
  const looks = () => reads.mock.calls.filter(([table]) => table === ('approvals' as string)).length;
  const moveOn = async (ms: number) => {
    const before = looks();
    t.clock.advance(ms);
    await until(() => expect(looks()).toBeGreaterThan(before));
  };
  // The waiting call checks its approval whenever the clock moves. As soon as it checks after the second move, it has handled the first one.
  await moveOn(9_999);
  await moveOn(0);
  expect(told).toHaveLength(1);
  t.clock.advance(1);
  await until(() => expect(told).toHaveLength(2));
  expect(told.map((params) => params.message)).toEqual([...messages, message()]);
  expect(told[1]?.progress).toBeGreaterThan(told[0]?.progress as number);
  await t.done('approvals.approve', { approval_id });
  wentThrough(await call);
  for (const progress of [0, 1, 2]) t.exchanges[0]?.progress?.({ progress });
  expect(told.slice(2)).toEqual([{ progress: 1 }, { progress: 2 }]);
});

test('arguments over 32 KiB are shown in part and marked as cut', async () => {
  const t = await held();
  const args = { text: 'ü'.repeat(40_000) };
  const call = t.write(args);
  const item = await waiting(t);
  expect(item).toMatchObject({ arguments_cut: true, arguments_bytes: Buffer.byteLength(JSON.stringify(args)) });
  // The limit falls into the middle of a character, which is dropped.
  expect(Buffer.byteLength(item.arguments as string)).toBe(32 * 1024 - 1);
  expect(item.arguments).toMatch(/^\{"text":"ü+$/);
  await t.done('approvals.approve', { approval_id: item.approval_id });
  wentThrough(await call);
});

test('arguments that cannot be shown exactly cannot be approved', async () => {
  const t = await held();
  let deep: unknown = 'x';
  for (let i = 0; i < 20_000; i++) deep = [deep];
  for (const args of [{ deep }, { half: '\ud800' }]) {
    expect((await t.write(args)).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'arguments' } });
  }
  expect(await kinds(t)).toEqual([]);
});

test('a caller can have at most twenty waiting calls', async () => {
  const t = await held();
  const calls = Array.from({ length: 20 }, (_, i) => t.write({ i }));
  await waiting(t, 20);
  expect((await t.write({ i: 20 })).reply).toMatchObject({ code: 'TOO_MANY_APPROVALS' });
  for (const { approval_id } of await listed(t)) await t.done('approvals.refuse', { approval_id });
  await Promise.all(calls);
  const more = t.write({ i: 20 });
  await t.done('approvals.approve', { approval_id: (await waiting(t)).approval_id });
  wentThrough(await more);
});

test('no approval is requested for a call that would be refused anyway: an unknown or withheld tool, invalid arguments', async () => {
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

test('a waiting call is not made if its token is revoked', async () => {
  const t = await held();
  const call = t.write();
  const { approval_id } = await waiting(t);
  await t.done('tokens.revoke', { token_id: t.ana.tokenId });
  await t.done('approvals.approve', { approval_id });
  expect((await call).reply).toMatchObject({ code: 'TOKEN_REVOKED', next: expect.stringContaining('covenant tokens create --developer ana') });
  expect(t.made).toEqual([]);
});

test('approval events name the approval, the call, the grant, the token and how the decision was made', async () => {
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
