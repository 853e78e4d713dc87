import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { accessOf } from '../../../kernel/registry.ts';
import { servedApp, testApp } from '../../../testing/app.ts';
import { postSignIn } from '../../../testing/scenes/signin.ts';

const DAY_MS = 24 * 3_600_000;

async function served() {
  const { url, ...t } = await servedApp();
  await t.developer('mira');
  return { ...t, url };
}

/** Returns an open socket, or the status with which the server refused it. */
async function opened(url: string, address: string, headers: Record<string, string>): Promise<WebSocket | number> {
  const ws = new WebSocket(url.replace('http', 'ws') + address, { headers });
  onTestFinished(() => ws.terminate());
  ws.on('error', () => {});
  const [, answer] = await Promise.race([once(ws, 'open').then(() => []), once(ws, 'unexpected-response') as Promise<[unknown, { statusCode: number }]>]);
  return answer ? answer.statusCode : ws;
}

test("a cookie without its page's proof allows no action, no read and no socket; the journal records the reason without either secret [harden.session.cookie-alone] [dashboard.routes.cookie]", async () => {
  const t = await served();
  const { cookie, headers, proof } = await t.signIn(t.url);
  const ask = async (path: string, method: string, own: Record<string, string>) => {
    const answer = await fetch(t.url + path, { method, headers: { 'content-type': 'application/json', ...own }, ...(method === 'POST' && { body: '{}' }) });
    return { status: answer.status, code: ((await answer.json()) as { data?: { code?: string } }).data?.code };
  };
  const known = t.app.registry.actions().flatMap((action) => [...action.operations.values()][0]?.contract.route ?? []);
  const all = ['POST /api/actions/identity.me', 'POST /api/actions/session.ticket', ...known];
  expect(known).toEqual(expect.arrayContaining(['GET /api/state', 'POST /api/tasks', 'POST /api/workstreams', 'POST /api/audit']));
  for (const route of all) {
    const [method, path] = route.split(' ') as [string, string];
    const without: Record<string, string>[] = [{ cookie }, { cookie, 'x-covenant-proof': '' }, { cookie, 'x-covenant-proof': `${proof.slice(1)}x` }];
    for (const own of without) expect([route, await ask(path, method, own)]).toEqual([route, { status: 401, code: 'PROOF_REQUIRED' }]);
    expect([route, (await ask(path, method, headers)).status]).not.toEqual([route, 401]);
    expect([route, (await ask(path, method, { 'x-covenant-proof': proof })).status]).toEqual([route, 401]);
  }
  expect(await opened(t.url, '/api/events', { cookie })).toBe(401);
  expect(await opened(t.url, '/api/events', headers)).toBe(401);
  expect(await ask('/api/events/export', 'GET', headers)).toEqual({ status: 401, code: 'TICKET_REQUIRED' });
  await t.app.refusals.flush(true);
  const text = JSON.stringify(await t.events());
  expect(text).toContain('"reason":"unproven"');
  expect(text).not.toContain(proof);
  expect(text).not.toContain(cookie.split('=')[1]);
});

test('a proof belongs to one session: a proof from another browser of the same person is refused', async () => {
  const t = await served();
  const [one, other] = [await t.signIn(t.url), await t.signIn(t.url)];
  expect((await one.action('identity.me', {}, { 'x-covenant-proof': other.proof })).status).toBe(401);
  expect((await one.action('identity.me')).status).toBe(200);
});

test('a token does not work as a cookie, even if the same request also sends it as a bearer token', async () => {
  const t = await served();
  const { cookie } = await t.signIn(t.url);
  const name = cookie.split('=')[0] as string;
  for (const { token } of [t.operator, await t.developer('ana'), await t.developer('ben', 'codex')]) {
    const headers = { authorization: `Bearer ${token}`, cookie: `${name}=${token}` };
    for (const path of ['/api/state', '/api/events/export', '/api/questions'])
      expect([path, (await fetch(t.url + path, { headers })).status]).toEqual([path, 401]);
  }
});

test('a cookie with the same name from another port does not prevent requests with the right cookie', async () => {
  const t = await served();
  const { cookie, proof } = await t.signIn(t.url);
  const [name] = cookie.split('=');
  const status = async (sent: string) => (await fetch(`${t.url}/api/state`, { headers: { cookie: sent, 'x-covenant-proof': proof } })).status;
  expect(await status(`${name}=junk; ${name}=cv_${'A'.repeat(43)}; ${cookie}`)).toBe(200);
  expect(await status(`${name}=junk`)).toBe(401);
});

test('a sign-in link requires confirmation if this browser was last signed in to a different account, even after the cookie is gone [harden.signin.names-account]', async () => {
  const t = await served();
  await t.developer('stranger');
  const { body } = await t.signIn(t.url);
  const { path } = await t.done('signin.link', { developer: 'stranger' });
  const mira = (body.developer as { id: string }).id;
  const refused = await postSignIn(t.url + String(path), {}, { account: mira });
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    { data: { code: 'SIGNED_IN_AS_ANOTHER', link_for: { developer: 'stranger' }, signed_in_as: null } },
  ]);
  expect((await postSignIn(t.url + String(path), {}, { account: mira, replace: true })).status).toBe(200);
});

test('a ticket opens one path once, within 30 seconds, and only for the session that requested it [harden.session.cookie-alone]', async () => {
  const t = await served();
  await t.developer('ben');
  const mira = await t.signIn(t.url, 'mira');
  const ben = await t.signIn(t.url, 'ben');
  const take = async (address: string, cookie: string) => (await fetch(t.url + address, { headers: { cookie } })).status;
  const ticket = (path: string) => mira.ticketed(path);
  const used = await ticket('/api/events/export');
  expect(await take(used, mira.cookie)).toBe(200);
  expect(await take(used, mira.cookie)).toBe(401);
  expect(await take(await ticket('/api/events/export'), ben.cookie)).toBe(401);
  expect(await take(await ticket('/api/events/export'), '')).toBe(401);
  const elsewhere = (await ticket('/api/events')).replace('/api/events', '/api/events/export');
  expect(await take(elsewhere, mira.cookie)).toBe(401);
  // A request for another address uses up the ticket, too.
  expect(await opened(t.url, elsewhere.replace('/export', ''), { cookie: mira.cookie })).toBe(401);
  const late = await ticket('/api/events');
  t.clock.advance(30_001);
  expect(await opened(t.url, late, { cookie: mira.cookie })).toBe(401);
  expect(await opened(t.url, await ticket('/api/events'), { cookie: mira.cookie })).toBeInstanceOf(WebSocket);
  expect((await mira.action('session.ticket', { path: '/api/mcp' })).body).toMatchObject({ code: 'INVALID_INPUT' });
  expect((await t.action('session.ticket', { path: '/api/events' })).reply).toMatchObject({ code: 'SESSION_REQUIRED' });
});

test('if a ticket is used several times at once, one use succeeds', async () => {
  const t = await served();
  const { cookie, ticketed } = await t.signIn(t.url);
  const address = await ticketed('/api/events/export');
  const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await fetch(t.url + address, { headers: { cookie } })).status));
  expect(statuses.toSorted()).toEqual([200, 401, 401, 401, 401]);
  expect(await t.app.store.reader.selectFrom('page_tickets').selectAll().execute()).toEqual([]);
});

/** Actions that grant rights or reveal secrets. */
const FRESH = ['capabilities.grant', 'devices.approve', 'signin.link', 'tokens.create', 'tokens.rotate'];

/** Actions that a dashboard session can take at any time: they remove rights, or control work for which rights were already given. */
const AT_ANY_TIME = [
  'agents.release approvals.approve approvals.refuse capabilities.revoke claims.release',
  'cycles.archive cycles.cancel cycles.close_session cycles.complete cycles.start',
  'demo.begin demo.end developers.set_visibility developers.sign_out devices.refuse devices.revoke',
  'instances.abandon instances.allow_review instances.clean instances.clear_orphans instances.message instances.start instances.stop journal.prune',
  'messages.answer messages.broadcast messages.remind overlap.configure overlap.dismiss prices.set questions.answer',
  'servers.approve servers.forget servers.reject servers.restart session.end session.ticket settings.set',
  'tasks.cancel tasks.plan team.audit team.weekly_summary tokens.revoke',
  'workflows.abandon workflows.complete workflows.create workflows.pause workflows.release workflows.resume workflows.retry workflows.set_parallelism workflows.skip',
  'workstreams.plan',
].flatMap((line) => line.split(' '));

test('every action that changes something either needs a fresh dashboard sign-in or is listed as an exception', async () => {
  const { app } = await testApp();
  const changing = app.registry.actions().flatMap((action) => {
    const contracts = [...action.operations.values()].map(({ contract }) => contract);
    const isLooking = contracts.every(({ annotations }) => annotations.readOnlyHint);
    return isLooking || ['server', 'token'].includes(accessOf(action)) ? [] : [{ name: action.name, fresh: contracts.some(({ fresh }) => fresh) }];
  });
  expect(
    changing
      .filter(({ fresh }) => fresh)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(FRESH);
  const unjudged = changing.filter(({ name, fresh }) => !fresh && !AT_ANY_TIME.includes(name)).map(({ name }) => name);
  expect(unjudged).toEqual([]);
});

test('granting rights or creating secrets needs a dashboard sign-in from the last five minutes, and the refusal says how to sign in; the command line needs no sign-in [harden.session.fresh-confirmation] [auth.ui.create]', async () => {
  const t = await served();
  const codex = await t.developer('mira', 'codex');
  const mira = await t.signIn(t.url);
  const inputs: Record<string, unknown> = {
    'tokens.create': { agent: 'codex' },
    'tokens.rotate': { token_id: codex.tokenId },
    'signin.link': { developer: 'mira' },
    'capabilities.grant': { action: 'tool.call.echo', token: codex.tokenId },
  };
  for (const [name, input] of Object.entries(inputs)) expect([name, (await mira.action(name, input)).status]).toEqual([name, 200]);
  t.clock.advance(5 * 60_000 + 1);
  const before = (await t.app.store.reader.selectFrom('tokens').select('id').execute()).length;
  for (const name of FRESH) {
    const { status, body } = await mira.action(name, inputs[name] ?? { code: 'BBBB-BBBB' });
    expect([name, status, body]).toMatchObject([name, 403, { code: 'SIGN_IN_AGAIN', suggestion: expect.stringContaining('covenant open') }]);
  }
  expect(await t.app.store.reader.selectFrom('tokens').select('id').execute()).toHaveLength(before);
  expect((await mira.action('identity.me')).status).toBe(200);
  expect((await t.events({ kind: 'tokens.create' })).at(-1)).toMatchObject({ payload: { code: 'SIGN_IN_AGAIN', outcome: 'denied' } });
  await t.done('tokens.create', { developer: 'mira' });
  const again = await t.signIn(t.url);
  expect((await again.action('tokens.create', { label: 'mine' })).body).toMatchObject({ developer: 'mira', label: 'mine' });
});

test('a dashboard session ends after 7 days without a request, and after 30 days in any case [harden.session.idle-timeout]', async () => {
  const t = await served();
  const idle = await t.signIn(t.url);
  const used = await t.signIn(t.url);
  const status = async ({ action }: typeof used) => (await action('identity.me')).status;
  for (let day = 0; day < 30; day += 6) {
    expect([day, await status(used)]).toEqual([day, 200]);
    // The server stores the time of the last use asynchronously, so it may be stored after the answer.
    await expect
      .poll(async () => (await t.app.store.reader.selectFrom('tokens').select('last_used_at').execute()).map((row) => Number(row.last_used_at)))
      .toContain(t.clock.now());
    t.clock.advance(6 * DAY_MS);
  }
  expect(await status(idle)).toBe(401);
  expect(await status(used)).toBe(200);
  t.clock.advance(1);
  expect(await status(used)).toBe(401);
  const week = await t.signIn(t.url);
  t.clock.advance(7 * DAY_MS + 1);
  expect(await status(week)).toBe(401);
});

test('signing out everywhere ends all sessions and sockets of a person and voids their unused sign-in links; nobody else is signed out', async () => {
  const t = await served();
  const agent = await t.developer('ben', 'codex');
  const [here, there, mira] = [await t.signIn(t.url, 'ben'), await t.signIn(t.url, 'ben'), await t.signIn(t.url, 'mira')];
  const socket = (await opened(t.url, await there.ticketed('/api/events'), { cookie: there.cookie })) as WebSocket;
  const closed = once(socket, 'close');
  const { path } = await t.done('signin.link', { developer: 'ben' });
  expect((await here.action('developers.sign_out', { developer: 'mira' })).body).toMatchObject({ code: 'NOT_YOURS' });
  expect((await here.action('developers.sign_out')).body).toEqual({ developer: 'ben', sessions: 2 });
  expect((await closed)[0]).toBe(4401);
  for (const session of [here, there]) expect((await session.action('identity.me')).status).toBe(401);
  await expect(t.app.signIn({ code: String(path).replace('/signin/', '') })).rejects.toMatchObject({ code: 'SIGNIN_LINK_INVALID' });
  expect((await mira.action('identity.me')).status).toBe(200);
  expect(await t.app.authenticate(agent.token, 'bearer')).toHaveProperty('principal');
  expect((await t.events({ kind: 'developer.signed_out' })).map(({ payload }) => payload)).toEqual([{ sessions: 2 }]);
  expect(await t.done('developers.sign_out', { developer: 'mira' })).toEqual({ developer: 'mira', sessions: 1 });
  const again = await t.signIn(t.url, 'ben');
  expect((await again.action('session.end')).body).toEqual({ ended: true });
  expect((await again.action('identity.me')).status).toBe(401);
});
