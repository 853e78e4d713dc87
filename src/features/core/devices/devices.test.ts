import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { servedApp, testApp } from '../../../testing/app.ts';
import { ENGINE } from '../../../testing/store/database.ts';
import { undoEveryFirstCommit } from '../../../testing/store/statements.ts';

const ANA = { machine_name: 'anas-laptop', agents: ['claude-code', 'codex'] };

async function served() {
  const { url, ...t } = await servedApp();
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, never> };
  };
  const ask = async (body: unknown = ANA) => (await post('/api/setup/device', body)).body as unknown as { user_code: string; device_code: string };
  const poll = async (device_code: string) => {
    t.clock.advance(5_000);
    return (await post('/api/setup/device/poll', { device_code })).body as Record<string, unknown>;
  };
  /** Signed in to the dashboard. */
  const signIn = async (developer: string) => {
    const { headers } = await t.signIn(url, developer);
    return (name: string, input: unknown, more: Record<string, string> = {}) => post(`/api/actions/${name}`, input, { ...headers, ...more });
  };
  const callClock = (token: string) => post('/api/mcp', { tool: 'clock' }, { authorization: `Bearer ${token}` });
  return { ...t, url, post, ask, poll, signIn, callClock };
}

test('a machine asks without a token, a signed-in developer approves its code, and each agent gets a typed token, once [auth.device.typed-tokens]', async () => {
  const t = await served();
  await t.developer('mira');
  await t.developer('ana');
  const asked = await t.post('/api/setup/device', ANA);
  expect(asked.body).toEqual({
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    verification_uri: `${t.url}/setup/authorize`,
    verification_uri_complete: `${t.url}/setup/authorize?code=${asked.body.user_code}`,
    expires_in: 600,
    interval: 5,
  });
  const { user_code, device_code } = asked.body as unknown as { user_code: string; device_code: string };
  expect(await t.poll(device_code)).toEqual({ status: 'pending', interval: 5 });

  const ana = await t.signIn('ana');
  const typed = user_code.toLowerCase().replace('-', ' ');
  expect((await ana('devices.find', { code: typed })).body).toMatchObject({ user_code, ...ANA, source: expect.stringContaining('127.0.0.1') });
  expect((await ana('devices.approve', { code: typed })).body).toMatchObject({ machine_name: 'anas-laptop', developer: 'ana' });
  const handed = await t.poll(device_code);
  expect(handed).toEqual({ status: 'approved', developer: 'ana', tokens: { 'claude-code': expect.any(String), codex: expect.any(String) } });
  const tokens = handed.tokens as Record<string, string>;
  for (const token of Object.values(tokens)) expect((await t.callClock(token)).status).toBe(200);
  expect(await t.poll(device_code)).toEqual({ status: 'consumed' });

  const { items } = (await ana('devices.list', {})).body as unknown as { items: { device_id: string; agents: unknown[] }[] };
  const rows = await t.app.store.reader
    .selectFrom('tokens')
    .select(['agent_type', 'developer_id', 'label'])
    .where('kind', '=', 'agent')
    .orderBy('agent_type')
    .execute();
  expect(rows.map(({ agent_type, label }) => [agent_type, label])).toEqual([
    ['claude-code', 'claude-code on anas-laptop'],
    ['codex', 'codex on anas-laptop'],
  ]);
  expect(items).toMatchObject([
    { machine_name: 'anas-laptop', developer: 'ana', status: 'set up', agents: [{ agent: 'claude-code', live: true }, { agent: 'codex' }] },
  ]);

  // Neither stored nor listed values can be used as a token, and the journal does not contain the machine's name.
  const kept = JSON.stringify([await t.app.store.reader.selectFrom('device_grants').selectAll().execute(), await t.events()]) + t.logged.join('');
  for (const secret of [device_code, ...Object.values(tokens)]) expect(kept).not.toContain(secret);
  expect(JSON.stringify(await t.events())).not.toContain('anas-laptop');
  expect((await t.events()).map(({ kind }) => kind)).toEqual(expect.arrayContaining(['device.requested', 'device.approved', 'device.set_up']));

  expect((await ana('devices.revoke', { device_id: items[0]?.device_id.slice(-6) })).body).toMatchObject({ revoked: { length: 2 } });
  for (const token of Object.values(tokens)) expect((await t.callClock(token)).status).toBe(401);
  expect((await ana('devices.list', {})).body).toMatchObject({ items: [{ status: 'revoked' }] });
});

test('if two polls arrive at the same time, one gets the tokens, even on two servers', async () => {
  const here = await served();
  await here.developer('mira');
  const there = await testApp({ database: here.database, clock: here.clock });
  const { user_code, device_code } = await here.ask();
  await (await here.signIn('mira'))('devices.approve', { code: user_code });
  const both = await Promise.all([here.app.devices.poll({ device_code }), there.app.devices.poll({ device_code })]);
  expect(both.filter(({ status }) => status === 'approved')).toHaveLength(1);
  expect(await here.app.store.reader.selectFrom('tokens').select('id').where('kind', '=', 'agent').execute()).toHaveLength(2);
});

test('a refused, expired or mistyped code gives no token, and the answer says why', async () => {
  const t = await served();
  await t.developer('mira');
  const mira = await t.signIn('mira');
  const denied = await t.ask();
  await mira('devices.refuse', { code: denied.user_code });
  expect(await t.poll(denied.device_code)).toEqual({ status: 'denied' });
  expect(await mira('devices.approve', { code: denied.user_code })).toMatchObject({ status: 404, body: { code: 'DEVICE_NOT_FOUND' } });

  const late = await t.ask();
  await mira('devices.approve', { code: late.user_code });
  const slow = await t.ask();
  t.clock.advance(601_000);
  expect(await t.poll(slow.device_code)).toEqual({ status: 'expired' });
  expect(await t.poll(late.device_code)).toEqual({ status: 'expired' });
  expect((await (await t.signIn('mira'))('devices.approve', { code: slow.user_code })).status).toBe(404);
  expect((await mira('devices.find', { code: 'BBBB-BBBB' })).body).toMatchObject({ code: 'DEVICE_NOT_FOUND' });
  expect((await mira('devices.find', { code: 'AAAA-1234' })).body).toMatchObject({ code: 'INVALID_INPUT', field: 'code' });
  expect(await t.post('/api/setup/device/poll', { device_code: 'made up' })).toMatchObject({ status: 404, body: { data: { code: 'DEVICE_NOT_FOUND' } } });
  expect(await t.app.store.reader.selectFrom('tokens').select('id').where('kind', '=', 'agent').execute()).toEqual([]);

  // Incomplete requests are deleted after a day, when the next one arrives.
  t.clock.advance(25 * 3_600_000);
  await t.ask();
  expect(await t.app.store.reader.selectFrom('device_grants').select('status').execute()).toEqual([{ status: 'pending' }]);
});

test('a machine that polls too often must wait, and one address can add only a limited number of requests', async () => {
  const t = await served();
  const { device_code } = await t.ask();
  const poll = () => t.post('/api/setup/device/poll', { device_code });
  expect((await poll()).body).toEqual({ status: 'pending', interval: 5 });
  const hasty = await poll();
  expect([hasty.status, hasty.headers.get('retry-after'), hasty.body]).toEqual([429, '10', { status: 'slow_down', interval: 10 }]);
  t.clock.advance(6_000);
  expect((await poll()).headers.get('retry-after')).toBe('15');
  t.clock.advance(15_000);
  expect((await poll()).body).toEqual({ status: 'pending', interval: 15 });

  for (let request = 1; request < 30; request++) expect((await t.post('/api/setup/device', ANA)).status).toBe(200);
  const refused = await t.post('/api/setup/device', ANA);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '579']);
  expect(refused.body).toMatchObject({ data: { code: 'TOO_MANY_DEVICES' } });
  t.clock.advance(600_000);
  expect((await t.post('/api/setup/device', ANA)).status).toBe(200);
});

test('a caller who tries too many wrong codes is stopped in all of their sessions; other callers are not', async () => {
  const t = await served();
  await t.developer('mira');
  await t.developer('ana');
  const { user_code } = await t.ask();
  const actions = ['devices.find', 'devices.approve', 'devices.refuse'];
  for (let tried = 0; tried < 20; tried++) {
    const ana = await t.signIn('ana');
    expect((await ana(actions[tried % 3] as string, { code: 'BBBB-BBBB' })).body).toMatchObject({ code: 'DEVICE_NOT_FOUND' });
  }
  const ana = await t.signIn('ana');
  for (const action of actions) expect((await ana(action, { code: user_code })).body, action).toMatchObject({ code: 'TOO_MANY_CODES' });
  expect((await (await t.signIn('mira'))('devices.find', { code: user_code })).body).toMatchObject({ user_code });
  t.clock.advance(600_000);
  const { user_code: later } = await t.ask();
  expect((await (await t.signIn('ana'))('devices.approve', { code: later })).body).toMatchObject({ developer: 'ana' });
});

test.runIf(ENGINE === 'postgres')('a wrong code counts once, even if the database repeats the transaction', async () => {
  const t = await testApp();
  undoEveryFirstCommit();
  for (let tried = 0; tried < 20; tried++) {
    // A concurrent transaction is needed, because the database would otherwise repeat nothing.
    const [answer] = await Promise.all([
      t.action('devices.refuse', { code: 'BBBB-BBBB' }),
      t.app.store.append(DEFAULT_WORKSPACE_ID, [{ category: 'work', kind: 'tick', actor: 'tester' }]),
    ]);
    expect(answer.reply).toMatchObject({ code: 'DEVICE_NOT_FOUND' });
  }
  expect((await t.action('devices.refuse', { code: 'BBBB-BBBB' })).reply).toMatchObject({ code: 'TOO_MANY_CODES' });
});

test('trying many codes in parallel gives no extra attempts', async () => {
  const t = await testApp();
  const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => t.action(`devices.${at % 2 ? 'find' : 'refuse'}`, { code: 'BBBB-BBBB' })));
  const codes = Object.groupBy(answers, ({ reply }) => ('code' in reply ? reply.code : reply.status));
  expect(Object.entries(codes).map(([code, told]) => [code, told?.length])).toEqual([
    ['DEVICE_NOT_FOUND', 20],
    ['TOO_MANY_CODES', 40],
  ]);
});

test('a device that is revoked before it fetches its tokens gets none', async () => {
  const t = await served();
  await t.developer('mira');
  const mira = await t.signIn('mira');
  const { user_code, device_code } = await t.ask();
  const { device_id } = (await mira('devices.approve', { code: user_code })).body;
  expect((await mira('devices.revoke', { device_id })).body).toMatchObject({ device_id, revoked: [] });
  expect(await t.poll(device_code)).toEqual({ status: 'denied' });
  expect(await t.app.store.reader.selectFrom('tokens').select('id').where('kind', '=', 'agent').execute()).toEqual([]);
  expect((await t.events({ kind: 'device.revoked' })).map(({ subject }) => subject)).toEqual([device_id]);
});

test('if two people approve one device at the same time, each for another workspace, one succeeds', async () => {
  const t = await served();
  const signedIn = async (workspace?: string) => {
    const caller = await t.developer('mira', undefined, workspace);
    return { ...caller, principal: { ...caller.principal, web: true, signedInAt: t.clock.now() } };
  };
  const both = [await signedIn(), await signedIn('ws_other')];
  const { user_code, device_code } = await t.ask();
  const answers = await Promise.all(both.map((caller) => t.action('devices.approve', { code: user_code }, caller)));
  const statuses = answers.map(({ reply }) => (reply.status === 'ok' ? 'ok' : reply.code));
  expect(statuses.toSorted()).toEqual(['DEVICE_NOT_FOUND', 'ok']);
  const handed = await t.poll(device_code);
  expect(handed).toMatchObject({ status: 'approved' });
  const { codex } = handed.tokens as Record<string, string>;
  const authenticated = await t.app.authenticate(codex, 'bearer');
  expect(authenticated).toMatchObject({ principal: { workspace: both[statuses.indexOf('ok')]?.principal.workspace } });
});

test('a request without a machine name or with unknown agents is refused, and the error names the field', async () => {
  const t = await served();
  for (const [body, field] of [
    [{ agents: ['codex'] }, 'machine_name'],
    [{ machine_name: 'a\nb', agents: ['codex'] }, 'machine_name'],
    [{ machine_name: 'a', agents: [] }, 'agents'],
    [{ machine_name: 'a', agents: ['hal'] }, 'agents[0]'],
    [{ machine_name: 'a', agents: ['codex', 'codex'] }, 'agents'],
    [{ machine_name: 'a', agents: ['codex'], developer: 'ana' }, 'developer'],
  ] as const) {
    expect(await t.post('/api/setup/device', body)).toMatchObject({ status: 400, body: { data: { code: 'INVALID_INPUT', field } } });
  }
});

test("developers list and revoke only their own devices, and an operator sees no name of a private developer's device", async () => {
  const t = await served();
  await t.developer('mira');
  await t.developer('ana');
  await t.developer('ben');
  const [mira, ana, ben] = [await t.signIn('mira'), await t.signIn('ana'), await t.signIn('ben')];
  const { user_code, device_code } = await t.ask();
  expect((await ben('devices.approve', { code: user_code, developer: 'ana' })).body).toMatchObject({ code: 'NOT_YOURS' });
  expect((await ben('devices.waiting', {})).status).toBe(403);
  expect((await mira('devices.waiting', {})).body).toMatchObject({ items: [{ user_code }] });
  await ana('devices.approve', { code: user_code });
  await t.poll(device_code);
  await ana('developers.set_visibility', { visibility: 'private' });
  expect((await ben('devices.list', {})).body).toMatchObject({ items: [], total: 0 });
  const { items } = (await mira('devices.list', {})).body as unknown as { items: { device_id: string }[] };
  expect(items).toMatchObject([{ machine_name: '@private', developer: '@private', developer_id: '@private' }]);
  expect((await ben('devices.revoke', { device_id: items[0]?.device_id })).body).toMatchObject({ code: 'DEVICE_NOT_FOUND' });
  const tokens = (await mira('tokens.list', {})).body as unknown as { items: { developer: string; label: string }[] };
  expect(tokens.items.filter(({ developer }) => developer === '@private').every(({ label }) => !label.includes('ana'))).toBe(true);
});

test('pages of other sites and agent tokens cannot approve a device or take any other action that is only for people', async () => {
  const t = await served();
  await t.developer('mira');
  const agent = await t.developer('mira', 'codex');
  const mira = await t.signIn('mira');
  const { user_code, device_code } = await t.ask();
  for (const origin of ['https://evil.example', t.url.replace(/\d+$/, '1')]) {
    for (const [name, input] of [
      ['devices.approve', { code: user_code }],
      ['tokens.create', {}],
      ['settings.set', { key: 'review.max_iterations', value: 9 }],
    ] as const) {
      expect(await mira(name, input, { origin }), `${name} from ${origin}`).toMatchObject({ status: 403, body: { data: { code: 'FOREIGN_ORIGIN' } } });
    }
    expect((await t.post('/api/setup/device', ANA, { origin })).status).toBe(403);
  }
  const asAgent = (name: string, input: unknown) => t.post(`/api/actions/${name}`, input, { authorization: `Bearer ${agent.token}` });
  for (const [name, input] of [
    ['devices.approve', { code: user_code }],
    ['devices.find', { code: user_code }],
    ['setup.agents', { base_url: t.url }],
    ['roles.list', {}],
    ['tokens.create', {}],
  ] as const) {
    expect(await asAgent(name, input), name).toMatchObject({ status: 403, body: { code: 'OPERATOR_REQUIRED' } });
  }
  expect(await t.poll(device_code)).toMatchObject({ status: 'pending' });
});
