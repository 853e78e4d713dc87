import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import { runs } from '../../../testing/runs.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { activeContexts, latestContextOf } from './contexts.ts';
import type { ContextView } from './contract.ts';

const HOUR = 3_600_000;

async function services() {
  const app = await testApp();
  const [ana, ben] = [await app.developer('ana'), await app.developer('ben')];
  const call = async (args: object, by: TestCaller = ana) => (await app.tool('covibe_session', args, by)).reply;
  const publish = (args: object = {}, by: TestCaller = ana) =>
    call({ operation: 'publish_context', title: 'Parser half done', summary: 'The lexer works.', repo: 'covenant', branch: 'parser', ...args }, by);
  const published = async (args: object = {}, by: TestCaller = ana) => {
    const reply = await publish(args, by);
    if (reply.status !== 'ok') throw new Error(`${reply.code}: ${reply.message}`);
    return reply.data as { context_id: string; expires_at: number; superseded: string[] };
  };
  const get = (args: object = {}, by: TestCaller = ben) => call({ operation: 'get_context', ...args }, by);
  const listed = async (by: TestCaller = ben) => ((await get({}, by)).data as { contexts: ContextView[] }).contexts;
  const revoke = (context_id: string, by: TestCaller = ana) => call({ operation: 'revoke_context', context_id }, by);
  return { ...app, ana, ben, call, publish, published, get, listed, revoke };
}

test('publish_context stores the working context of a repository and branch [context.publish.shape] [context.publish.upsert]', async () => {
  const { call, clock, events, get, published } = await services();
  const { session_id } = (await call({ operation: 'start' })).data as { session_id: string };
  const given = {
    title: 'Parser half done',
    summary: 'The lexer works.',
    files_touched: ['src/lexer.ts'],
    next_actions: ['Write the parser'],
    blockers: ['No grammar for strings'],
    task_ids: ['task_1'],
    repo: 'covenant',
    branch: 'parser',
    session_id,
  };
  const { context_id, expires_at } = await published({ ...given, ttl_hours: 2 });
  expect(context_id).toMatch(/^ctx_/);
  expect((await get({ context_id })).data).toEqual({
    context: { ...given, context_id, developer: 'ana', published_at: clock.now(), expires_at, cut: false },
  });
  expect(await events({ kind: 'session.context_published' })).toMatchObject([
    { session: session_id, subject: context_id, payload: { repo: 'covenant', branch: 'parser' } },
  ]);
  for (const field of ['title', 'summary', 'repo']) {
    const { [field]: _, ...rest } = given as Record<string, unknown>;
    expect(await call({ operation: 'publish_context', ...rest })).toMatchObject({ code: 'INVALID_INPUT', data: { field } });
  }
  expect(await call({ operation: 'publish_context', ...given, files_touched: ['/home/ana/x'] })).toMatchObject({ data: { field: 'files_touched[0]' } });
  expect(await call({ operation: 'publish_context', ...given, transcript: 'hello' })).toMatchObject({ data: { field: 'transcript' } });
});

test('publishing again for the same repository and branch supersedes the earlier context, which stays stored [context.publish.supersedes]', async () => {
  const { app, listed, published } = await services();
  const first = await published();
  const second = await published({ title: 'Parser done' });
  expect(second.superseded).toEqual([first.context_id]);
  expect((await listed()).map(({ context_id }) => context_id)).toEqual([second.context_id]);
  const row = await app.store.reader.selectFrom('session_contexts').selectAll().where('id', '=', first.context_id).executeTakeFirst();
  expect(row?.superseded_by).toBe(second.context_id);
});

test('contexts of another branch, no branch, another repository or another developer stay unchanged [context.publish.other-branch]', async () => {
  const { ben, listed, published } = await services();
  const kept = [
    await published(),
    await published({ branch: 'lexer' }),
    await published({ branch: undefined }),
    await published({ repo: 'site' }),
    await published({}, ben),
  ];
  for (const each of kept) expect(each.superseded).toEqual([]);
  expect(new Set((await listed()).map(({ context_id }) => context_id))).toEqual(new Set(kept.map(({ context_id }) => context_id)));
  expect((await published({ branch: undefined })).superseded).toEqual([kept[2]?.context_id]);
});

test('all addresses of a repository mean the same repository, and a handoff also finds it by its short name', async () => {
  const { ana, app, clock, published } = await services();
  const first = await published({ repo: 'git@github.com:acme/app.git' });
  const second = await published({ repo: 'https://github.com/Acme/App' });
  expect(second.superseded).toEqual([first.context_id]);
  expect((await published({ repo: 'app' })).superseded).toEqual([]);
  const latest = async (repo: string) =>
    (await latestContextOf(app.store.reader, ana.principal.workspace, ana.principal.developerId as string, { repo }, clock.now()))?.id;
  expect(await latest('ssh://git@github.com/acme/app')).toBe(second.context_id);
  expect(await latest('acme/app')).toBeDefined();
  expect(await latest('other/app')).not.toBe(second.context_id);
});

test('a context expires after 24 hours by default [context.ttl.default]', async () => {
  const { clock, listed, published } = await services();
  const { expires_at } = await published();
  expect(expires_at - clock.now()).toBe(24 * HOUR);
  clock.advance(24 * HOUR - 1);
  expect(await listed()).toHaveLength(1);
  clock.advance(1);
  expect(await listed()).toEqual([]);
});

test('ttl_hours is from 1 to 168 [context.ttl.range]', async () => {
  const { clock, publish, published } = await services();
  for (const ttl_hours of [0, -1, 169, 1.5, '24']) expect(await publish({ ttl_hours })).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'ttl_hours' } });
  expect((await published({ ttl_hours: 1 })).expires_at).toBe(clock.now() + HOUR);
  expect((await published({ ttl_hours: 168 })).expires_at).toBe(clock.now() + 168 * HOUR);
});

test("get_context by handle, @handle or id returns a teammate's latest active context [context.get.by-person] [context.get.shape]", async () => {
  const { ana, clock, get, published } = await services();
  await published({ branch: 'lexer' });
  clock.advance(1_000);
  const { context_id } = await published();
  for (const developer of ['ana', '@ana', ana.principal.developerId]) {
    expect(await get({ developer })).toMatchObject({ status: 'ok', data: { context: { context_id, developer: 'ana' } } });
  }
  expect(await get({ developer: 'ben' })).toMatchObject({ status: 'ok', data: { context: null } });
  expect(await get({ developer: 'nobody' })).toMatchObject({ status: 'error', code: 'DEVELOPER_NOT_FOUND' });
  expect(await get({ developer: 'ana', context_id })).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'context_id' } });
});

test('without a developer, all active contexts of the workspace are listed, long ones cut [context.get.list]', async () => {
  const { ana, ben, app, clock, developer, get, listed, published } = await services();
  await published();
  await published({ summary: 's'.repeat(4_000), files_touched: Array.from({ length: 200 }, (_, at) => `f${at}`) }, ben);
  await published({}, await developer('zoe', undefined, 'ws_beta'));
  const contexts = await listed(ana);
  expect(contexts.map(({ developer: who, cut }) => [who, cut])).toEqual([
    ['ben', true],
    ['ana', false],
  ]);
  expect(contexts[0]?.summary.length).toBe(600);
  const whole = (await get({ developer: 'ben' })).data as { context: ContextView };
  expect([whole.context.summary.length, whole.context.files_touched.length, whole.context.cut]).toEqual([4_000, 200, false]);
  expect(await activeContexts(app.store.reader, ana.principal.workspace, await viewerOf(app.store.reader, ana.principal), clock.now())).toEqual(contexts);
});

test('every active context is listed: the newest in detail, the others in one line marked as cut [context.get.list]', async () => {
  const { ben, get, listed, published } = await services();
  const made: string[] = [];
  for (let at = 0; at < 30; at++) made.unshift((await published({ branch: `b${at}`, summary: 's'.repeat(500), files_touched: ['src/a.ts'] })).context_id);
  const contexts = await listed();
  expect(contexts.map(({ context_id }) => context_id)).toEqual(made);
  expect(contexts.map(({ cut }) => cut)).toEqual(made.map((_, at) => at >= 20));
  expect(contexts[29]).toMatchObject({ branch: 'b0', title: 'Parser half done', summary: expect.stringMatching(/^s{79}…$/), files_touched: [] });
  expect((await get({ context_id: made[29] }, ben)).data).toMatchObject({ context: { summary: 's'.repeat(500), files_touched: ['src/a.ts'], cut: false } });
});

test('a private developer is listed as @private, and their name gets the same refusal as an unknown name [context.get.private]', async () => {
  const { ana, done, get, listed, published } = await services();
  await published({ summary: 'Secretly' });
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  expect((await listed()).map(({ developer }) => developer)).toEqual(['@private']);
  expect(JSON.stringify(await listed())).not.toContain(ana.principal.developerId as string);
  const hidden = await get({ developer: 'ana' });
  expect(hidden).toMatchObject({ status: 'error', code: 'DEVELOPER_NOT_FOUND' });
  expect(JSON.stringify(await get({ developer: 'nix' })).replaceAll('nix', 'ana')).toBe(JSON.stringify(hidden));
  expect(await get({ developer: ana.principal.developerId })).toMatchObject({ code: 'DEVELOPER_NOT_FOUND' });
  expect(await get({ developer: 'ana' }, ana)).toMatchObject({ status: 'ok', data: { context: { summary: 'Secretly' } } });
});

test("revoke_context revokes the caller's own context by id [context.revoke.shape] [context.revoke.owned]", async () => {
  const { call, events, get, listed, published, revoke } = await services();
  expect(await call({ operation: 'revoke_context' })).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'context_id' } });
  const { context_id } = await published();
  expect(await revoke(context_id)).toMatchObject({ status: 'ok', data: { context_id } });
  expect(await listed()).toEqual([]);
  expect(await get({ context_id })).toMatchObject({ code: 'CONTEXT_NOT_FOUND' });
  expect(await revoke(context_id)).toMatchObject({ code: 'CONTEXT_NOT_FOUND' });
  expect(await events({ kind: 'session.context_revoked' })).toMatchObject([{ subject: context_id }]);
});

test("revoking somebody else's context gets the same refusal as revoking a missing context [context.revoke.foreign-refused]", async () => {
  const { ben, events, listed, published, revoke } = await services();
  const { context_id } = await published();
  const foreign = await revoke(context_id, ben);
  const unknown = context_id.replace(/.{4}$/, 'ZZZZ');
  expect(foreign).toMatchObject({ status: 'error', code: 'CONTEXT_NOT_FOUND' });
  expect(JSON.stringify(await revoke(unknown, ben)).replaceAll(unknown, context_id)).toBe(JSON.stringify(foreign));
  expect(await listed()).toHaveLength(1);
  expect(await events({ kind: 'session.context_revoked' })).toEqual([]);
});

const step = fc.oneof(
  fc.record({ do: fc.constant('publish' as const), by: fc.nat({ max: 1 }), branch: fc.constantFrom('a', 'b', null), hours: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ do: fc.constant('revoke' as const), by: fc.nat({ max: 1 }), which: fc.nat({ max: 6 }) }),
  fc.record({ do: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 4 }) }),
);

test('after any sequence of publishing, revoking and waiting, no revoked, superseded or expired context is returned [context.get.active-only]', async () => {
  const { ana, app, ben, clock, get, listed, published, revoke } = await services();
  const callers = [ana, ben] as const;
  const all: { id: string; by: number; branch: string | null; expires: number; gone: boolean }[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const taken of steps) {
        if (taken.do === 'pass') clock.advance(taken.hours * HOUR);
        else if (taken.do === 'publish') {
          const { by, branch, hours } = taken;
          for (const each of all) if (each.by === by && each.branch === branch) each.gone = true;
          const { context_id } = await published({ ...(branch ? { branch } : { branch: undefined }), ttl_hours: hours }, callers[by]);
          all.push({ id: context_id, by, branch, expires: clock.now() + hours * HOUR, gone: false });
        } else {
          const each = all.at(-1 - taken.which);
          if (!each) continue;
          const may = !each.gone && each.expires > clock.now() && each.by === taken.by;
          expect((await revoke(each.id, callers[taken.by])).status).toBe(may ? 'ok' : 'error');
          if (may) each.gone = true;
        }
      }
      const active = all.filter((each) => !each.gone && each.expires > clock.now());
      expect(new Set((await listed()).map(({ context_id }) => context_id))).toEqual(new Set(active.map(({ id }) => id)));
      for (const each of all.slice(-5)) expect((await get({ context_id: each.id })).status).toBe(active.includes(each) ? 'ok' : 'error');
      const latest = active.filter((each) => each.by === 0).at(-1);
      const found = await latestContextOf(app.store.reader, ana.principal.workspace, ana.principal.developerId as string, {}, clock.now());
      expect(found?.id).toBe(latest?.id);
    }),
    runs(15),
  );
});
