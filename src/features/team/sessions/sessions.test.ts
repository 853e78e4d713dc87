import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type TestApp, type TestAppOptions, type TestCaller, testApp } from '../../../testing/app.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { eventRedactor, viewerOf } from '../../core/identity/index.ts';
import type { BeatNews, SessionView } from './contract.ts';
import { staleSessions } from './store.ts';

const MINUTE = 60_000;

async function services(options: TestAppOptions = {}) {
  const app = await testApp(options);
  const [ana, ben] = [await app.developer('ana'), await app.developer('ben')];
  const call = (args: object, by: TestCaller = ana) => app.tool('covibe_session', args, by);
  const start = async (by: TestCaller = ana, args: object = {}) => {
    const { reply } = await call({ operation: 'start', ...args }, by);
    if (reply.status !== 'ok') throw new Error(reply.message);
    return reply.data as { session_id: string; agent_type: string | null; started_at: number } & BeatNews;
  };
  const beat = (args: object = {}, by: TestCaller = ana) => call({ operation: 'heartbeat', ...args }, by);
  const session = (id: string) => sessionRow(app, id);
  const work = async (kind: string) => (await app.events({ category: 'work' })).filter((event) => event.kind === kind);
  return { ...app, ana, ben, call, start, beat, session, work };
}

const sessionRow = (app: TestApp, id: string) => app.app.store.reader.selectFrom('agent_sessions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

test('covibe_session has the documented operations, and operation is required [session.surface.operations]', async () => {
  const { app, call } = await services();
  const schema = app.registry.tool('covibe_session')?.inputSchema as { required: string[]; properties: { operation: { enum: string[] } } };
  expect(schema.required).toEqual(['operation']);
  expect([...schema.properties.operation.enum].sort()).toEqual(
    ['start', 'heartbeat', 'snapshot', 'activity', 'publish_context', 'get_context', 'revoke_context', 'end'].sort(),
  );
  expect((await call({})).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'operation' } });
});

test('start takes optional facts about the agent, and returns a session [session.start.shape]', async () => {
  const { clock, session, start, work } = await services();
  const said = { agent_name: 'Claude', provider: 'anthropic', model: 'claude-opus-4-5', agent_type: 'claude-code', repo: 'covenant', branch: 'main' };
  const { session_id, agent_type, started_at } = await start(undefined, said);
  expect([agent_type, started_at]).toEqual(['claude-code', clock.now()]);
  expect(session_id).toMatch(/^ses_/);
  expect(await session(session_id)).toMatchObject({ ...said, ended_at: null, last_seen_at: clock.now() });
  expect((await start()).agent_type).toBeNull();
  expect((await work('session.started')).map(({ subject, session: linked }) => [subject, linked])[0]).toEqual([session_id, session_id]);
});

test('start and heartbeat return what is waiting for the agent in other features', async () => {
  const { ana, ben, start, tool } = await services();
  const asked = await tool('covibe_coordination', { operation: 'ask', to: 'ana', message: 'May I change the parser?' }, ben);
  expect(asked.reply).toMatchObject({ status: 'ok' });
  expect((await start(ana)).waiting).toMatchObject([{ from: 'ben', message: 'May I change the parser?' }]);
});

test('a typed token decides the type of the agent, and a different reported type is recorded [session.agent-type.token-wins] [session.agent-type.mismatch-event]', async () => {
  const { developer, session, start, work } = await services();
  const codex = await developer('ana', 'codex');
  const { session_id, agent_type } = await start(codex, { agent_type: 'claude-code' });
  expect(agent_type).toBe('codex');
  expect((await session(session_id)).agent_type).toBe('codex');
  expect(await work('session.agent_mismatch')).toMatchObject([{ session: session_id, payload: { reported: 'claude-code', token: 'codex' } }]);
});

test('no report, an equal report, or an untyped token is no mismatch [session.agent-type.no-false-mismatch]', async () => {
  const { ana, developer, start, work } = await services();
  const codex = await developer('ana', 'codex');
  await start(codex);
  await start(codex, { agent_type: 'codex' });
  await start(codex, { agent_type: 'Codex' });
  await start(ana, { agent_type: 'gemini' });
  expect(await work('session.agent_mismatch')).toEqual([]);
});

test('a heartbeat, with only optional fields, marks the session as seen [session.heartbeat.shape] [session.heartbeat.last-seen]', async () => {
  const { beat, clock, session, start } = await services();
  const { session_id } = await start();
  clock.advance(10 * MINUTE);
  expect((await beat({ session_id, companion_version: '1.0.0', registered_repos: ['covenant'] })).reply).toMatchObject({
    status: 'ok',
    data: { session_id, last_seen_at: clock.now(), registered_repos: 1 },
  });
  expect((await session(session_id)).last_seen_at).toBe(clock.now());
  expect((await beat()).reply).toMatchObject({ status: 'ok', data: { session_id: null } });
});

test('a heartbeat without a session marks the machine as alive and replaces its list of repositories [session.heartbeat.without-session]', async () => {
  const { ana, app, beat, clock, work } = await services();
  const machine = () => app.store.reader.selectFrom('machines').selectAll().executeTakeFirst();
  const repos = () => app.store.reader.selectFrom('registered_repos').select(['repo', 'path', 'branch']).orderBy('position').execute();
  const entries = ['covenant', { repo: 'site', path: '/home/ana/site', branch: 'main' }];
  expect((await beat({ companion_version: '1.2.0', registered_repos: entries })).reply.status).toBe('ok');
  expect(await machine()).toMatchObject({ token_id: ana.tokenId, developer_id: ana.principal.developerId, companion_version: '1.2.0' });
  expect(await repos()).toEqual([
    { repo: 'covenant', path: null, branch: null },
    { repo: 'site', path: '/home/ana/site', branch: 'main' },
  ]);
  clock.advance(MINUTE);
  await beat({ registered_repos: entries });
  await beat();
  expect(await machine()).toMatchObject({ companion_version: '1.2.0', last_heartbeat_at: clock.now() });
  expect(await work('session.repos_synced')).toHaveLength(1);
  await beat({ registered_repos: ['site'] });
  expect(await repos()).toEqual([{ repo: 'site', path: null, branch: null }]);
  await beat({ registered_repos: [] });
  expect(await repos()).toEqual([]);
});

test('the list of one machine does not change that of another', async () => {
  const { app, beat, ben } = await services();
  await beat({ registered_repos: ['one'] });
  await beat({ registered_repos: ['other'] }, ben);
  await beat({ registered_repos: [] });
  expect(await app.store.reader.selectFrom('registered_repos').select('repo').execute()).toEqual([{ repo: 'other' }]);
});

test("a heartbeat for somebody else's session gets the refusal of a missing session, and does not touch it [session.heartbeat.owner-only]", async () => {
  const { beat, ben, clock, session, start } = await services();
  const { session_id } = await start();
  const before = await session(session_id);
  clock.advance(MINUTE);
  const foreign = await beat({ session_id }, ben);
  const nobodys = `${session_id.slice(0, -4)}0000`;
  const unknown = await beat({ session_id: nobodys }, ben);
  expect(foreign.reply).toMatchObject({ status: 'error', code: 'SESSION_NOT_FOUND' });
  expect(JSON.stringify(unknown.body).replaceAll(nobodys, session_id)).toBe(JSON.stringify(foreign.body));
  expect(await session(session_id)).toEqual(before);
});

test('an ended session is not touched by a heartbeat, activity, snapshot or other call that names it [session.heartbeat.active-only]', async () => {
  const { ana, beat, call, clock, session, start, tool } = await services();
  const { session_id } = await start(ana, { repo: 'covenant' });
  await call({ operation: 'end', session_id });
  const ended = await session(session_id);
  clock.advance(MINUTE);
  for (const operation of ['heartbeat', 'snapshot', 'activity'] as const) {
    const { reply } = await call({ operation, session_id, ...(operation === 'activity' ? { text: 'at it' } : {}) });
    expect(reply).toMatchObject({ status: 'error', code: 'SESSION_ENDED' });
  }
  await tool('covibe_note', { kind: 'decision', title: 'Late', session_id }, ana);
  expect(await session(session_id)).toEqual(ended);
  expect((await beat()).reply.status).toBe('ok');
});

test('the reply to a heartbeat names the latest companion if it has a version and the server has a manifest, and otherwise none [session.heartbeat.companion-answer]', async () => {
  const manifest = join(temporaryFolder(), 'manifest.json');
  const tarball_sha256 = 'ab'.repeat(32);
  const { beat, logged } = await services({ companionManifest: manifest });
  const companion = async (args: object) => ((await beat(args)).reply.data as { companion?: unknown }).companion;
  expect(await companion({ companion_version: '1.0.0' })).toBeUndefined();
  expect(logged.join('')).toContain('cannot use the companion manifest');
  writeFileSync(manifest, JSON.stringify({ version: '1.4.0', tarball_sha256 }));
  expect(await companion({ companion_version: '1.0.0' })).toEqual({ latest_version: '1.4.0', tarball_sha256, update_available: true });
  expect(await companion({})).toBeUndefined();
  writeFileSync(manifest, JSON.stringify({ latest_version: '1.5.0', tarball_sha256 }));
  expect(await companion({ companion_version: '1.5.0' })).toEqual({ latest_version: '1.5.0', tarball_sha256, update_available: false });
  for (const broken of ['{', '{"latest_version":"1"}', `{"tarball_sha256":"${tarball_sha256}"}`, ' '.repeat(70_000)]) {
    writeFileSync(manifest, broken);
    expect(await companion({ companion_version: '1.5.0' })).toBeUndefined();
  }
  const without = await services();
  expect(((await without.beat({ companion_version: '1.0.0' })).reply.data as { companion?: unknown }).companion).toBeUndefined();
  const folder = join(temporaryFolder(), 'folder');
  mkdirSync(folder);
  expect((await (await services({ companionManifest: folder })).beat({ companion_version: '1' })).reply.status).toBe('ok');
});

test('the handler refuses a version of more than 64 characters, and stores nothing of that heartbeat [session.heartbeat.version-limit]', async () => {
  const { app, beat } = await services();
  expect((await beat({ companion_version: 'v'.repeat(65), registered_repos: ['a'] })).reply).toMatchObject({
    code: 'INVALID_INPUT',
    data: { field: 'companion_version' },
  });
  expect(await app.store.reader.selectFrom('machines').selectAll().execute()).toEqual([]);
  expect((await beat({ companion_version: 'v'.repeat(64) })).reply.status).toBe('ok');
});

test('the handler refuses more than 200 registered repositories [session.heartbeat.repos-bounded]', async () => {
  const { beat } = await services();
  const repos = Array.from({ length: 201 }, (_, at) => `repo-${at}`);
  expect((await beat({ registered_repos: repos })).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'registered_repos' } });
  expect((await beat({ registered_repos: repos.slice(1) })).reply).toMatchObject({ status: 'ok', data: { registered_repos: 200 } });
});

test('end ends the session and records it; a second end changes nothing [session.end.shape] [session.end.ends] [session.end.event]', async () => {
  const { call, clock, session, start, work } = await services();
  expect((await call({ operation: 'end' })).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'session_id' } });
  const { session_id } = await start();
  clock.advance(MINUTE);
  const ended_at = clock.now();
  expect((await call({ operation: 'end', session_id })).reply).toMatchObject({ status: 'ok', data: { session_id, ended_at } });
  expect((await session(session_id)).ended_at).toBe(ended_at);
  clock.advance(MINUTE);
  expect((await call({ operation: 'end', session_id })).reply).toMatchObject({ status: 'warning', code: 'SESSION_ALREADY_ENDED', data: { ended_at } });
  expect((await session(session_id)).ended_at).toBe(ended_at);
  expect(await work('session.ended')).toMatchObject([{ session: session_id, subject: session_id }]);
});

test("a peer's token cannot end a session [session.end.owner-only]", async () => {
  const { ben, call, operator, session, start, work } = await services();
  const { session_id } = await start();
  expect((await call({ operation: 'end', session_id }, ben)).reply).toMatchObject({ status: 'error', code: 'SESSION_NOT_FOUND' });
  expect((await call({ operation: 'end', session_id }, operator)).reply.status).toBe('error');
  expect((await session(session_id)).ended_at).toBeNull();
  expect(await work('session.ended')).toEqual([]);
});

test('an activity is one line of at most 500 characters; the newest 200 of a session are kept', async () => {
  const { app, call, clock, session, start, work } = await services();
  const { session_id } = await start();
  const say = (text: string) => call({ operation: 'activity', session_id, text });
  clock.advance(MINUTE);
  expect((await say('Reading the parser')).reply).toMatchObject({ status: 'ok', data: { session_id, last_seen_at: clock.now() } });
  expect((await session(session_id)).last_seen_at).toBe(clock.now());
  expect(await work('session.activity')).toMatchObject([{ session: session_id, payload: { text: 'Reading the parser' } }]);
  for (const wrong of ['', '   ', 'x'.repeat(501), 'one\ntwo', 'one\rtwo', 'one\u2028two']) {
    expect((await say(wrong)).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'text' } });
  }
  for (let at = 0; at < 205; at++) {
    clock.advance(1);
    await say(`step ${at}`);
  }
  const kept = await app.store.reader.selectFrom('session_activity').select('text').orderBy('id').execute();
  expect([kept.length, kept[0]?.text, kept.at(-1)?.text]).toEqual([200, 'step 5', 'step 204']);
});

test('sessions are listed with state and latest activity; those of private developers have no name, agent name or developer id', async () => {
  const { ana, app, ben, call, clock, done, events, start, developer } = await services();
  const mira = await developer('mira');
  const left = await start(ben, { agent_name: 'bens-claude', repo: 'site' });
  const hidden = await start(mira, { agent_name: 'miras-codex', agent_type: 'codex', branch: 'mira/parser' });
  clock.advance(31 * MINUTE);
  const live = await start(ana);
  for (const text of ['First', 'Second']) await call({ operation: 'activity', session_id: live.session_id, text });
  await call({ operation: 'end', session_id: hidden.session_id }, mira);
  await done('developers.set_visibility', { developer: 'mira', visibility: 'private' });

  const { items } = (await done('sessions.list', {}, { ...ana, principal: { ...ana.principal, web: true } })) as { items: SessionView[] };
  const shown = new Map(items.map((item) => [item.session_id, item]));
  expect(shown.get(live.session_id)).toMatchObject({ developer: 'ana', state: 'active', last_activity: 'Second' });
  expect(shown.get(left.session_id)).toMatchObject({ developer: 'ben', agent_name: 'bens-claude', state: 'stale', repo: 'site', last_activity: null });
  expect(shown.get(hidden.session_id)).toMatchObject({ developer: '@private', agent_name: null, branch: null, agent_type: null, state: 'ended' });
  expect(JSON.stringify(items)).not.toContain(mira.principal.developerId as string);
  const redacted = await eventRedactor(app.store.reader, ana.principal.workspace, ana.principal);
  expect(JSON.stringify(await redacted(await events()))).not.toMatch(new RegExp(`mira/parser|${mira.principal.developerId}`));
  const stale = await staleSessions(app.store.reader, ana.principal.workspace, await viewerOf(app.store.reader, ana.principal), clock.now(), 10);
  expect(stale.map((item) => item.session_id)).toEqual([left.session_id]);
});

test('the server ends a session that is silent for a week, once, and it is no longer reported as stale', async () => {
  const { tool, developer, clock, app, events } = await testApp();
  const ana = await developer('ana');
  await tool('covibe_session', { operation: 'start' }, ana);
  clock.advance(7 * 24 * 3_600_000);
  expect((await tool('covibe_team', { operation: 'state' }, ana)).reply.status).toBe('warning');
  clock.advance(1);
  await expect.poll(async () => (await app.store.reader.selectFrom('agent_sessions').select('ended_at').executeTakeFirst())?.ended_at).toBe(clock.now());
  clock.advance(1);
  expect((await tool('covibe_team', { operation: 'state' }, ana)).reply.status).toBe('ok');
  expect((await events({ kind: 'session.ended' })).map(({ actor }) => actor)).toEqual(['server']);
});
