import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { servedApp, testApp } from '../../../testing/app.ts';
import { workflowApp } from '../../../testing/scenes/workflow.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

test("an agent's token lasts 90 days by default however it is created; a developer's lasts until it is revoked [harden.token.lifetime] [harden.token.list-expiry]", async () => {
  const t = await testApp();
  const now = t.clock.now();
  const made = async (input: object) => (await t.done('tokens.create', { developer: 'ana', ...input })).expires_at;
  expect(await made({ agent: 'codex' })).toBe(now + 90 * DAY_MS);
  expect(await made({ agent: 'codex', expires_in_minutes: 5 })).toBe(now + 5 * MINUTE_MS);
  expect(await made({})).toBeNull();
  const { user_code, device_code } = await t.app.devices.ask('127.0.0.1', { machine_name: 'laptop', agents: ['claude-code', 'codex'] });
  await t.done('devices.approve', { code: user_code, developer: 'ana' });
  await t.app.devices.poll({ device_code });
  const { items } = (await t.done('tokens.list', {})) as { items: { kind: string; expires_at: number | null }[] };
  const agents = items.filter(({ kind }) => kind === 'agent').map(({ expires_at }) => expires_at);
  expect(agents.toSorted()).toEqual([now + 5 * MINUTE_MS, ...Array(3).fill(now + 90 * DAY_MS)]);
  const { token } = await t.done('tokens.create', { developer: 'ana', agent: 'codex' });
  t.clock.advance(90 * DAY_MS + 1);
  expect(await t.app.authenticate(String(token), 'bearer')).toEqual({ rejected: 'expired' });
});

test('agent_token_days sets the lifetime; 0 means no expiry', async () => {
  for (const [days, lasts] of [
    [0, null],
    [2, 2 * DAY_MS],
  ] as const) {
    const t = await testApp({ limits: { agent_token_days: days } });
    const { expires_at } = await t.done('tokens.create', { developer: 'ana', agent: 'codex' });
    expect(expires_at).toBe(lasts === null ? null : t.clock.now() + lasts);
  }
});

test('only agent tokens are listed as expiring within 7 days', async () => {
  const t = await testApp();
  const { token_id } = await t.done('tokens.create', { developer: 'ana', agent: 'codex' });
  const ended = await t.done('tokens.create', { developer: 'ana', agent: 'codex' });
  await t.done('tokens.revoke', { token_id: ended.token_id });
  await t.done('tokens.create', { developer: 'ana', expires_in_minutes: 60 * 24 * 89 });
  const expiring = async () => ((await t.done('tokens.list', { expiring: true })) as { items: { token_id: string }[] }).items.map((item) => item.token_id);
  t.clock.advance(83 * DAY_MS);
  expect(await expiring()).toEqual([]);
  t.clock.advance(1);
  expect(await expiring()).toEqual([token_id]);
  t.clock.advance(7 * DAY_MS);
  expect(await expiring()).toEqual([]);
});

test('a rotation replaces the secret and keeps the id; the old secret works until the overlap ends, and revoking ends both [harden.token.rotate-overlap]', async () => {
  const t = await testApp();
  const made = await t.done('tokens.create', { developer: 'ana', agent: 'codex' });
  const old = String(made.token);
  t.clock.advance(80 * DAY_MS);
  const rotated = await t.done('tokens.rotate', { token_id: made.token_id });
  const fresh = String(rotated.token);
  expect(rotated).toEqual({
    token: expect.stringMatching(/^cv_[\w-]{43}$/),
    token_id: made.token_id,
    old_ends_at: t.clock.now() + DAY_MS,
    expires_at: t.clock.now() + 90 * DAY_MS,
  });
  expect(fresh).not.toBe(old);
  const who = async (token: string) => {
    const found = await t.app.authenticate(token, 'bearer');
    return 'principal' in found ? found.principal.tokenId : found.rejected;
  };
  expect([await who(old), await who(fresh)]).toEqual([made.token_id, made.token_id]);
  t.clock.advance(DAY_MS - 1);
  expect(await who(old)).toBe(made.token_id);
  t.clock.advance(1);
  expect([await who(old), await who(fresh)]).toEqual(['rotated', made.token_id]);
  const text = JSON.stringify(await t.events());
  expect((await t.events({ kind: 'token.rotated' })).map(({ subject }) => subject)).toEqual([made.token_id]);
  for (const secret of [old, fresh]) expect(text).not.toContain(secret);

  const second = String((await t.done('tokens.rotate', { token_id: made.token_id, overlap_minutes: 5 })).token);
  expect([await who(fresh), await who(second)]).toEqual([made.token_id, made.token_id]);
  const third = String((await t.done('tokens.rotate', { token_id: made.token_id, overlap_minutes: 0 })).token);
  expect([await who(fresh), await who(second), await who(third)]).toEqual(['unknown', 'rotated', made.token_id]);
  const last = String((await t.done('tokens.rotate', { token_id: made.token_id })).token);
  await t.done('tokens.revoke', { token_id: made.token_id });
  expect([await who(third), await who(last)]).toEqual(['revoked', 'revoked']);
});

test('after a rotation, the old secret lasts no longer than before and no longer than its token', async () => {
  const t = await testApp();
  const make = async () => String((await t.done('tokens.create', { developer: 'ana', agent: 'codex', expires_in_minutes: 10 })).token_id);
  const end = async (input: object) => (Number((await t.done('tokens.rotate', { token_id: await make(), ...input })).old_ends_at) - t.clock.now()) / 60_000;
  expect([await end({}), await end({ overlap_minutes: 3 }), await end({ expires_in_minutes: 5 })]).toEqual([10, 3, 5]);
});

test('an open socket stays open until the secret that opened it expires; a rotation does not close it earlier', async () => {
  const { url, ...t } = await servedApp();
  const made = await t.done('tokens.create', { developer: 'ana', agent: 'codex' });
  const follow = async (token: string) => {
    const ws = new WebSocket(`${url.replace('http', 'ws')}/api/events`, { headers: { authorization: `Bearer ${token}` } });
    onTestFinished(() => ws.terminate());
    await once(ws, 'open');
    return ws;
  };
  const before = await follow(String(made.token));
  const { token } = await t.done('tokens.rotate', { token_id: made.token_id, overlap_minutes: 5 });
  const after = await follow(String(token));
  t.clock.advance(5 * MINUTE_MS);
  const closed = once(before, 'close');
  await t.done('tokens.create', { developer: 'ben' });
  expect((await closed)[0]).toBe(4401);
  await expect.poll(() => after.readyState).toBe(WebSocket.OPEN);
});

test('a task claimed before a rotation can be completed with the new secret, and grants remain', async () => {
  const t = await workflowApp();
  const { token_id, token } = await t.done('tokens.create', { developer: 'ana', agent: 'codex' });
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: token_id, scope: { max_uses: 2 } });
  const callerBy = async (secret: unknown) => {
    const found = await t.app.authenticate(String(secret), 'bearer');
    if (!('principal' in found)) throw new Error(found.rejected);
    return { token: String(secret), tokenId: found.principal.tokenId, principal: found.principal };
  };
  const old = await callerBy(token);
  const { ids } = await t.planned(['build'], { caller: old });
  const { task_id: id, agent_id, fence } = await t.started(String(ids.build), old);
  expect((await t.tool('echo', { text: 'one' }, old)).isError).toBe(false);
  const rotated = await t.done('tokens.rotate', { token_id, overlap_minutes: 0 });
  expect(await t.app.authenticate(String(token), 'bearer')).toEqual({ rejected: 'rotated' });
  const fresh = await callerBy(rotated.token);
  await t.ok('task_update_status', { id, status: 'completed', outcome: 'done', agent_id, fence }, fresh);
  expect(await t.task(id)).toMatchObject({ status: 'completed' });
  expect((await t.tool('echo', { text: 'two' }, fresh)).isError).toBe(false);
  expect((await t.tool('echo', { text: 'three' }, fresh)).isError).toBe(true);
});

test('tokens of other developers, of browsers and of the operator cannot be rotated, and neither can ended tokens', async () => {
  const t = await testApp();
  const ana = await t.developer('ana');
  const ben = await t.developer('ben', 'codex');
  await t.developer('mira');
  const { url } = await t.serve();
  const session = await t.signIn(url, 'mira');
  expect((await session.action('tokens.rotate', { token_id: ben.tokenId })).body).toMatchObject({ code: 'TOKEN_NOT_FOUND' });
  const { items } = (await t.done('tokens.list', {})) as { items: { token_id: string; kind: string }[] };
  for (const kind of ['web', 'operator'])
    expect((await t.action('tokens.rotate', { token_id: items.find((item) => item.kind === kind)?.token_id })).reply).toMatchObject({
      code: 'TOKEN_NOT_ROTATABLE',
    });
  await t.done('tokens.revoke', { token_id: ana.tokenId });
  const refusal = async () => (await t.action('tokens.rotate', { token_id: ana.tokenId })).reply;
  expect(await refusal()).toMatchObject({ code: 'TOKEN_ENDED', next: expect.stringContaining('--developer ana') });
  await t.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  expect(await refusal()).toMatchObject({ code: 'TOKEN_ENDED', next: expect.stringContaining('--developer NAME') });
});
