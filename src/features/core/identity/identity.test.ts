import crypto, { hash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Principal } from '../../../kernel/call.ts';
import { accessOf } from '../../../kernel/registry.ts';
import type { Refusal } from '../../../kernel/reply.ts';
import { testApp } from '../../../testing/app.ts';
import { cycleApp } from '../../../testing/scenes/cycle.ts';
import { until } from '../../../testing/until.ts';
import { ensureWorkspace } from './developers.ts';
import { issueInstanceToken, issueToken } from './tokens.ts';

test('a token acts as the one developer it was created for [auth.token.developer]', async () => {
  const { developer, tool, events } = await testApp();
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  await tool('clock', {}, ana);
  await tool('clock', {}, ben);
  const actors = (await events({ kind: 'clock' })).map((event) => event.actor);
  expect(actors).toEqual([`developer:${ana.principal.developerId}`, `developer:${ben.principal.developerId}`]);
  const claimed = await tool('clock', { agent_id: ben.principal.developerId }, ana);
  expect(claimed.reply).toMatchObject({ status: 'error', code: 'INVALID_INPUT', data: { field: 'agent_id' } });
});

test("agent, instance and role come from the caller's token, whatever the input says [auth.identity.bound]", async () => {
  const t = await cycleApp();
  const { id } = (await t.tool('agent_register', { name: 'Builder', runtime: 'codex' }, t.ana)).body;
  expect((await t.tool('agent_heartbeat', { agent_id: id }, t.ben)).body).toMatchObject({ code: 'FOREIGN_AGENT' });
  await t.ok('cycle.start', { feature: 'x' });
  const session_token = await t.open('gemini');
  expect(await t.refused('lock.acquire', { session_token }, t.ben)).toMatchObject({ code: 'INVALID_SESSION' });
  const { value } = await t.app.store.write(t.ana.principal.workspace, (tx) => issueInstanceToken(tx, { id: 'work-7-a1', developer_id: null }, 'operator'));
  const instance = await t.app.authenticate(value, 'bearer');
  if (!('principal' in instance)) throw new Error(instance.rejected);
  const { body } = await t.tool('request_review', { instance_id: 'work-8-a1' }, { ...t.ana, ...instance });
  expect(body).toMatchObject({ code: 'INVALID_INPUT', field: 'instance_id', instance_id: 'work-7-a1' });
});

test('the store contains the SHA-256 of a token and never the token [auth.token.hash-only]', async () => {
  const { app, developer } = await testApp();
  const { token } = await developer('ana');
  const rows = await app.store.reader.selectFrom('tokens').selectAll().execute();
  expect(rows.map((row) => row.hash)).toContain(hash('sha256', token));
  const everything = JSON.stringify([
    rows,
    await app.store.reader.selectFrom('events').selectAll().execute(),
    await app.store.reader.selectFrom('grants').selectAll().execute(),
  ]);
  expect(everything).not.toContain(token);
});

test('a token may have one of five agent types, and no other [auth.token.typed]', async () => {
  const { action, done } = await testApp();
  for (const agent of ['claude-code', 'codex', 'cursor', 'gemini', 'opencode']) {
    expect(await done('tokens.create', { developer: 'ana', agent })).toMatchObject({ agent });
  }
  const { reply } = await action('tokens.create', { developer: 'ana', agent: 'hal' });
  expect(reply).toMatchObject({ status: 'error', code: 'INVALID_INPUT', data: { field: 'agent' } });
});

test('a presented token is compared in constant time [auth.token.constant-time]', async () => {
  const { app, developer } = await testApp();
  const { token } = await developer('ana');
  const compared = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  onTestFinished(() => {
    compared.mockRestore();
    syncBuiltinESMExports();
  });
  await app.authenticate(token, 'bearer');
  expect(compared.mock.calls.map(([stored, given]) => [String(stored), String(given)])).toEqual([[hash('sha256', token), hash('sha256', token)]]);
});

test('a token revoked through another server of the same database is refused here from the next call on', async () => {
  const here = await testApp();
  const { token, tokenId } = await here.developer('ana');
  expect(await here.app.authenticate(token, 'bearer')).toHaveProperty('principal');
  const there = await testApp({ database: here.database });
  await there.done('tokens.revoke', { token_id: tokenId });
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(await here.app.authenticate(token, 'bearer')).toEqual({ rejected: 'revoked' });
});

test("the browser's cookie is not accepted as a bearer token, and a token is not accepted as a cookie", async () => {
  const { app, developer, done } = await testApp();
  const { token } = await developer('ana');
  const link = await done('signin.link', {});
  const { cookie, proof } = await app.signIn({ code: String(link.path).replace('/signin/', '') });
  expect(await app.authenticate(cookie, 'bearer')).toEqual({ rejected: 'wrong-door' });
  expect(await app.authenticate(token, 'cookie', { secret: proof })).toEqual({ rejected: 'wrong-door' });
});

test('a principal is the operator, a developer, a typed agent token or an instance [auth.principals.kinds]', async () => {
  const { app, operator, developer } = await testApp();
  const { issueToken } = await import('./tokens.ts');
  const instance = await app.store.write(operator.principal.workspace, (tx) =>
    issueToken(tx, { kind: 'instance', developerId: null, instanceId: 'work-1-a1', expiresAt: null, by: 'operator' }),
  );
  const kinds = [operator, await developer('ana'), await developer('ana', 'codex')].map((caller) => caller.principal.kind);
  const authenticated = await app.authenticate(instance.value, 'bearer');
  expect([...kinds, 'principal' in authenticated && authenticated.principal.kind]).toEqual(['operator', 'developer', 'agent', 'instance']);
});

test('the first developer of each workspace is its admin; later ones are members [auth.workspace.first-admin]', async () => {
  const { app, developer } = await testApp();
  for (const name of ['ana', 'ben', 'cleo']) await developer(name);
  for (const name of ['dora', 'eli']) await developer(name, undefined, 'ws_other');
  const all = await app.store.reader.selectFrom('developers').select(['name', 'role']).orderBy('name').execute();
  expect(all.map(({ name, role }) => `${name} ${role}`)).toEqual(['ana admin', 'ben member', 'cleo member', 'dora admin', 'eli member']);
});

test("the operator's tokens.create creates a developer at the first use of the name, and never twice [auth.cli.developer-on-first-use]", async () => {
  const { done } = await testApp();
  const first = await done('tokens.create', { developer: 'ana' });
  const second = await done('tokens.create', { developer: 'ana', agent: 'codex' });
  expect(second.developer_id).toBe(first.developer_id);
});

test('others see a private developer as @private in lists and events [auth.private.redacted]', async () => {
  const { action, developer, done, tool } = await testApp();
  const [ana, ben] = [await developer('ana'), await developer('ben', 'codex')];
  await done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  await tool('clock', {}, ben);
  const asAna = { ...ana, principal: { ...ana.principal, web: true, operator: true } };
  for (const name of ['developers.list', 'tokens.list', 'capabilities.list', 'events.list']) {
    const { reply } = await action(name, name === 'events.list' ? { latest: 100 } : {}, asAna);
    const text = JSON.stringify(reply);
    expect(text).toContain('@private');
    expect(text).not.toContain(ben.principal.developerId);
    if (name === 'events.list') expect(text).not.toContain(ben.tokenId);
    expect(text).not.toMatch(/"ben\b/);
  }
  const asBen = { ...ben, principal: { ...ben.principal, web: true } };
  expect(JSON.stringify((await action('developers.list', {}, asBen)).reply)).toContain('"ben"');
});

test('creating and revoking a token each write a work event without the raw token [auth.ui.token-events]', async () => {
  const { clock, developer, done, events } = await testApp();
  const ana = await developer('ana');
  const web = { ...ana, principal: { ...ana.principal, web: true, signedInAt: clock.now() } };
  const created = await done('tokens.create', { label: 'mine' }, web);
  await done('tokens.revoke', { token_id: created.token_id }, web);
  const work = (await events({ category: 'work' })).filter((event) => event.subject === created.token_id);
  expect(work.map((event) => event.kind)).toEqual(['token.created', 'token.revoked']);
  expect(JSON.stringify(await events())).not.toContain(String(created.token));
});

test('a token label is one line without control characters, which could control the terminal that shows it', async () => {
  const { action, clock, developer } = await testApp();
  const ana = await developer('ana');
  const web = { ...ana, principal: { ...ana.principal, web: true, signedInAt: clock.now() } };
  for (const label of ['red\u001b[31m', 'two\nlines', 'bell\u0007']) {
    expect((await action('tokens.create', { label }, web)).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'label' } });
  }
});

test('a developer creates, sees and revokes only their own tokens, and default labels differ [auth.ui.revoke] [auth.ui.labels]', async () => {
  const { action, app, clock, developer, done } = await testApp();
  await developer('admin');
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  const web = { ...ana, principal: { ...ana.principal, web: true, signedInAt: clock.now() } };
  const one = await done('tokens.create', {}, web);
  const two = await done('tokens.create', {}, web);
  expect(one.developer).toBe('ana');
  expect(two.label).not.toBe(one.label);
  expect((await action('tokens.create', { developer: 'ben' }, web)).reply).toMatchObject({ code: 'NOT_YOURS' });
  expect((await action('tokens.revoke', { token_id: ben.tokenId }, web)).reply).toMatchObject({ code: 'TOKEN_NOT_FOUND' });
  const { items } = (await done('tokens.list', {}, web)) as { items: { developer: string }[] };
  expect(new Set(items.map((item) => item.developer))).toEqual(new Set(['ana']));
  await done('tokens.revoke', { token_id: one.token_id }, web);
  expect(await app.authenticate(String(one.token), 'bearer')).toEqual({ rejected: 'revoked' });
  expect(await app.authenticate(ben.token, 'bearer')).toHaveProperty('principal');
});

test("a workspace's admin has operator rights there, but none over the server's files or other workspaces", async () => {
  const { app, action, developer, database } = await testApp();
  const zoe = await developer('zoe', undefined, 'ws_beta');
  const web = { ...zoe, principal: { ...zoe.principal, web: true, operator: true } };
  expect((await action('capabilities.list', {}, web)).isError).toBe(false);
  const stolen = `${database.home}/stolen.db`;
  expect((await action('server.backup', { path: stolen }, web)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  const elsewhere = await app.dispatch.action({ name: 'tokens.list', args: {}, principal: web.principal, surface: 'dashboard', workspace: 'default' });
  expect(elsewhere.reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
});

test('a call that names a workspace is journaled whatever its result, and an unknown workspace gets no journal', async () => {
  const { app, developer, events, operator } = await testApp();
  const ana = await developer('ana');
  const call = (principal: typeof ana.principal, name: string, args: unknown, workspace: string) =>
    app.dispatch.action({ name, args, principal, surface: 'api', workspace });
  expect((await call(ana.principal, 'tokens.list', {}, 'beta')).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect((await call(operator.principal, 'tokens.list', {}, 'beta')).reply).toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
  expect((await call(operator.principal, 'tokens.list', {}, 'No Name')).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'workspace' } });
  expect((await call(operator.principal, 'tokens.create', {}, 'beta')).reply).toMatchObject({ code: 'INVALID_INPUT' });
  expect((await app.dispatch.tool({ name: 'clock', args: {}, principal: operator.principal, surface: 'api', workspace: 'beta' })).reply).toMatchObject({
    code: 'WORKSPACE_NOT_FOUND',
  });
  expect((await events({ category: 'usage' })).map((event) => event.payload.code)).toEqual([
    'OPERATOR_REQUIRED',
    'WORKSPACE_NOT_FOUND',
    'INVALID_INPUT',
    'INVALID_INPUT',
    'WORKSPACE_NOT_FOUND',
  ]);
  expect(await events({}, 'ws_beta')).toEqual([]);
  expect((await call(operator.principal, 'tokens.create', { developer: 'zoe' }, 'beta')).isError).toBe(false);
  expect((await events({}, 'ws_beta')).map((event) => event.kind)).toContain('workspace.created');
});

test("an agent's token can neither create tokens nor read administrative data", async () => {
  const { action, developer } = await testApp();
  const agent = await developer('ana', 'codex');
  for (const name of ['tokens.create', 'tokens.list', 'events.list', 'capabilities.grant', 'server.status']) {
    expect((await action(name, {}, agent)).reply).toMatchObject({ status: 'error', code: 'OPERATOR_REQUIRED' });
  }
  // The message mentions a dashboard sign-in only if that would help.
  const nextOf = async (name: string) => ((await action(name, {}, agent)).reply as { next: string }).next;
  expect(await nextOf('tokens.list')).toContain('covenant open');
  expect(await nextOf('capabilities.grant')).toContain('first developer');
  expect(await nextOf('server.backup')).toContain('A dashboard sign-in cannot make this call');
});

test('an id can be shortened to any unique end; an ambiguous end is refused with the matching ids [transport.cli.id-tail]', async () => {
  const { action, developer, done } = await testApp();
  const ana = await developer('ana');
  expect(await done('tokens.revoke', { token_id: ana.tokenId.slice(-8) })).toMatchObject({ token_id: ana.tokenId });
  // There are more tokens than possible last characters, so at least two ids end in the same character.
  for (let i = 0; i < 33; i++) await developer('ben');
  const { items } = (await done('tokens.list', {})) as { items: { token_id: string }[] };
  const byLast = Map.groupBy(items, (item) => item.token_id.slice(-1));
  const [shared] = [...byLast].find(([, tokens]) => tokens.length > 1) ?? [];
  expect((await action('tokens.revoke', { token_id: shared })).reply).toMatchObject({
    status: 'error',
    code: 'AMBIGUOUS_ID',
    message: expect.stringContaining('tok_'),
  });
  expect((await action('tokens.revoke', { token_id: '%' })).reply).toMatchObject({ code: 'TOKEN_NOT_FOUND' });
});

test('a sign-in link works once within ten minutes, even if two visitors open it at the same time [auth.dashboard.one-time-link]', async () => {
  const { app, clock, developer, done } = await testApp();
  await developer('ana');
  const secret = async () => String((await done('signin.link', {})).path).replace('/signin/', '');
  const link = await secret();
  const visit = (code: string) =>
    app.signIn({ code }).then(
      () => 'signed in',
      (error: Refusal) => error.code,
    );
  expect((await Promise.all([visit(link), visit(link), visit(link)])).toSorted()).toEqual(['SIGNIN_LINK_INVALID', 'SIGNIN_LINK_INVALID', 'signed in']);
  expect(await visit(link)).toBe('SIGNIN_LINK_INVALID');
  const late = await secret();
  clock.advance(10 * 60_000 + 1);
  expect(await visit(late)).toBe('SIGNIN_LINK_INVALID');
  expect(await visit('invented')).toBe('SIGNIN_LINK_INVALID');
});

test('up to ten unauthenticated requests a minute from each source are journaled individually, and the rest as one count', async () => {
  const { app, clock, events } = await testApp();
  for (let i = 0; i < 35; i++) await app.refusals.record('10.0.0.1', { category: 'audit', kind: 'authentication_failed', payload: { reason: 'missing' } });
  await app.refusals.record('10.0.0.2', { category: 'audit', kind: 'authentication_failed', payload: { reason: 'missing' } });
  expect(await events({ kind: 'authentication_failed' })).toHaveLength(11);
  clock.advance(61_000);
  await until(async () =>
    expect((await events({ kind: 'requests_refused' })).map((event) => event.payload)).toEqual([expect.objectContaining({ source: '10.0.0.1', count: 25 })]),
  );
});

test('tokens are listed newest first in pages, and can be filtered by status, by id and to the caller’s own', async () => {
  const t = await testApp();
  const mira = await t.developer('mira');
  const li = await t.developer('li', 'codex');
  const ended = await t.developer('mira');
  await t.done('tokens.revoke', { token_id: ended.tokenId });
  await t.done('tokens.create', { developer: 'mira', expires_in_minutes: 1 });
  t.clock.advance(61_000);
  const list = async (input: Record<string, unknown>, caller = t.operator) => {
    const { items, total } = (await t.done('tokens.list', input, caller)) as { items: { token_id: string; status: string }[]; total: number };
    return { ids: items.map(({ token_id }) => token_id), statuses: items.map(({ status }) => status), total };
  };
  expect((await list({ status: 'live' })).ids).toEqual([li.tokenId, mira.tokenId, t.operator.tokenId]);
  expect((await list({ status: 'ended' })).statuses).toEqual(['expired', 'revoked']);
  expect(await list({ status: 'live', limit: 1, offset: 1 })).toMatchObject({ ids: [mira.tokenId], total: 3 });
  expect(await list({ token_id: ended.tokenId })).toMatchObject({ ids: [ended.tokenId], total: 1 });
  const signedIn = { ...li, principal: { ...li.principal, web: true } };
  expect((await list({}, signedIn)).ids).toEqual([li.tokenId]);
  expect((await list({ token_id: mira.tokenId }, signedIn)).ids).toEqual([]);
  const admin = { ...mira, principal: { ...mira.principal, web: true, operator: true } };
  expect((await list({ own: true, status: 'live' }, admin)).ids).toEqual([mira.tokenId]);
});

test('tokens of agents, instances and developers can take only the actions for tokens, which nobody else can take; members can take no operator actions', async () => {
  const t = await testApp();
  const { workspace } = t.operator.principal;
  const mira = await t.developer('mira');
  const codex = await t.developer('mira', 'codex');
  const issued = await t.app.store.write(workspace, (tx) => issueInstanceToken(tx, { id: 'work-7-a1', developer_id: mira.principal.developerId }, 'operator'));
  const instance = await t.app.authenticate(issued.value, 'bearer');
  if (!('principal' in instance)) throw new Error(instance.rejected);
  const ben = await t.developer('ben');
  const member = { ...ben.principal, web: true };
  const refusalOf = async (name: string, principal: Principal) => {
    const { reply } = await t.app.dispatch.action({ name, args: {}, principal, surface: 'api' });
    return reply.status === 'ok' ? 'ok' : reply.code;
  };
  for (const action of t.app.registry.actions()) {
    const { name } = action;
    if (accessOf(action) === 'token') {
      for (const { principal } of [mira, codex, instance]) expect([name, await refusalOf(name, principal)]).toEqual([name, 'INVALID_INPUT']);
      for (const principal of [member, { ...member, operator: true }, t.operator.principal])
        expect([name, await refusalOf(name, principal)]).toEqual([name, 'TOKEN_REQUIRED']);
      continue;
    }
    for (const { kind, principal } of [mira, codex, instance].map(({ principal: each }) => ({ kind: each.kind, principal: each })))
      expect([name, kind, await refusalOf(name, principal)]).toEqual([name, kind, 'OPERATOR_REQUIRED']);
    if (accessOf(action) !== 'member') expect([name, await refusalOf(name, member)]).toEqual([name, 'OPERATOR_REQUIRED']);
    // A caller gets no access to another workspace by naming it in a call.
    const elsewhere = { name, args: {}, principal: { ...member, operator: true }, surface: 'api', workspace: 'default' } as const;
    expect((await t.app.dispatch.action(elsewhere)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  }
});

test('an operator token outside the default workspace is refused everywhere [harden.operator.default-workspace]', async () => {
  const t = await testApp();
  const { value } = await t.app.store.write('ws_shop', async (tx) => {
    await ensureWorkspace(tx, 'operator');
    return await issueToken(tx, { kind: 'operator', developerId: null, expiresAt: null, by: 'operator' });
  });
  expect(await t.app.authenticate(value, 'bearer')).toEqual({ rejected: 'unknown' });
  expect(await t.app.authenticate(t.operator.token, 'bearer')).toMatchObject({ principal: { kind: 'operator' } });
});
