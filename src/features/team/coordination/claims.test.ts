import { expect, test } from 'vitest';
import { type TestApp, type TestAppOptions, type TestCaller, testApp } from '../../../testing/app.ts';
import { testClock } from '../../../testing/clock.ts';
import { waiting } from '../../../testing/scenes/approvals.ts';
import { fileConflicts } from '../overlap/index.ts';
import { editConflicts, liveClaims } from './index.ts';

const MINUTE = 60_000;
const repo = 'github.com/acme/app';

async function team(options: TestAppOptions = {}) {
  const app = await testApp(options);
  const [ana, mira] = [await app.developer('ana', 'claude-code'), await app.developer('mira', 'codex')];
  return { ...app, ana, mira, ...operations(app) };
}

function operations({ tool }: TestApp) {
  const call = (operation: string) => async (input: object, by: TestCaller) => (await tool('covibe_coordination', { operation, ...input }, by)).reply;
  const claim = call('claim');
  return {
    call,
    claim,
    release: call('release'),
    check: call('check_conflicts'),
    async claimed(input: object, by: TestCaller) {
      const reply = await claim({ repo, ...input }, by);
      if (reply.status !== 'ok') throw new Error(`${reply.code}: ${reply.message}`);
      return reply.data as { claim_id: string; expires_at: number; mode: string; renewed: boolean };
    },
    async session(by: TestCaller) {
      return ((await tool('covibe_session', { operation: 'start' }, by)).reply.data as { session_id: string }).session_id;
    },
    beat: (by: TestCaller, session_id?: string) => tool('covibe_session', { operation: 'heartbeat', ...(session_id ? { session_id } : {}) }, by),
  };
}

test('every operation is published, and `operation` is required [coordination.surface.operations]', async () => {
  const { app, mira, tool } = await team();
  const schema = app.registry.tool('covibe_coordination')?.inputSchema as { required: string[]; properties: { operation: { enum: string[] } } };
  const operations = ['announce', 'claim', 'release', 'ask', 'reply', 'handoff', 'accept_handoff', 'check_conflicts', 'list', 'summary'];
  expect([...schema.properties.operation.enum].sort()).toEqual([...operations].sort());
  expect(schema.required).toEqual(['operation']);
  for (const input of [{}, { operation: 'steal' }]) {
    expect((await tool('covibe_coordination', input, mira)).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'operation' } });
  }
});

test('a claim is a lease over path globs or symbols of a repository, and needs at least one [coordination.claim.subject]', async () => {
  const { ana, app, claim, claimed, clock, events } = await team();
  const { claim_id } = await claimed({ paths: ['src/upload/**', 'docs/a.md'], symbols: ['src/dates.ts#parse'], reason: 'retries' }, ana);
  expect(claim_id).toMatch(/^claim_/);
  expect(await liveClaims(app.store.reader, ana.principal.workspace, ana.principal, clock.now())).toMatchObject([
    { claim_id, repo, paths: ['src/upload/**', 'docs/a.md'], symbols: ['src/dates.ts#parse'], developer: 'ana', agent_type: 'claude-code', reason: 'retries' },
  ]);
  const [event] = await events({ category: 'work', kind: 'claim.made' });
  expect(event).toMatchObject({ subject: claim_id, actor: ana.principal.actor, payload: { repo, paths: ['src/upload/**', 'docs/a.md'] } });
  expect(await claim({ repo }, ana)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'paths' } });
  expect(await claim({ paths: ['a'] }, ana)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'repo' } });
  for (const path of ['/etc/passwd', '../up', 'a//b', 'C:/x', 'src/{a,b}.ts', `${'a/'.repeat(40)}b`, '*a'.repeat(11), 'a'.repeat(256), `*${'a'.repeat(80)}`]) {
    expect([path, await claim({ repo, paths: [path] }, ana)]).toMatchObject([path, { code: 'INVALID_INPUT', data: { field: 'paths[0]' } }]);
  }
  expect(await claim({ repo, paths: Array.from({ length: 51 }, (_, i) => `f${i}`) }, ana)).toMatchObject({ code: 'INVALID_INPUT' });
});

test('a claim is exclusive by default, or shared; shared claims conflict only with exclusive ones [coordination.claim.modes]', async () => {
  const { ana, claim, claimed, mira } = await team();
  expect((await claimed({ paths: ['a.ts'] }, ana)).mode).toBe('exclusive');
  await claimed({ paths: ['b.ts'], mode: 'shared' }, ana);
  await claimed({ paths: ['b.ts'], mode: 'shared' }, mira);
  expect(await claim({ repo, paths: ['b.ts'], mode: 'exclusive' }, mira)).toMatchObject({ status: 'blocked', code: 'CLAIM_CONFLICT' });
  expect(await claim({ repo, paths: ['a.ts'], mode: 'shared' }, mira)).toMatchObject({ status: 'blocked', code: 'CLAIM_CONFLICT' });
  expect(await claim({ repo, paths: ['a.ts'], mode: 'mine' }, ana)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'mode' } });
});

test('a claim lasts 60 minutes unless ttl_minutes gives another time from 1 to 1440 [coordination.claim.ttl-default]', async () => {
  const { ana, claim, claimed, clock } = await team();
  expect((await claimed({ paths: ['a'] }, ana)).expires_at).toBe(clock.now() + 60 * MINUTE);
  expect((await claimed({ paths: ['b'], ttl_minutes: 1_440 }, ana)).expires_at).toBe(clock.now() + 1_440 * MINUTE);
  for (const ttl_minutes of [0, 1_441, 1.5]) expect(await claim({ repo, paths: ['c'], ttl_minutes }, ana)).toMatchObject({ data: { field: 'ttl_minutes' } });
});

test('a conflicting claim is blocked, and the answer names the holder, the end and the next step [coordination.claim.conflict-refused]', async () => {
  const { ana, claim, claimed, events, mira } = await team();
  const held = await claimed({ paths: ['src/upload/**'], reason: 'retries' }, ana);
  const answer = await claim({ repo: 'git@github.com:acme/app.git', paths: ['src/*/retry.ts'] }, mira);
  expect(answer).toMatchObject({ status: 'blocked', code: 'CLAIM_CONFLICT', message: expect.stringContaining('ana') });
  expect(answer).toMatchObject({ next: expect.stringMatching(/operation "ask", to "ana".*wait until 2026-01-01T01:00/) });
  expect(answer.data).toMatchObject({
    conflicts: [{ claim_id: held.claim_id, developer: 'ana', mode: 'exclusive', paths: ['src/upload/**'], expires_at: held.expires_at, reason: 'retries' }],
  });
  expect(await events({ category: 'feedback' })).toMatchObject([{ payload: { type: 'block', code: 'CLAIM_CONFLICT' } }]);
  expect(await events({ kind: 'claim.made' })).toHaveLength(1);
  await claimed({ paths: ['src/download/**'] }, mira);
  await claimed({ repo: 'github.com/acme/other', paths: ['src/upload/**'] }, mira);
});

test('two sessions of one agent count as two agents, as do two agent types of one developer; a symbol conflicts with its file', async () => {
  const { ana, claim, claimed, developer, session } = await team();
  const [one, two] = [await session(ana), await session(ana)];
  await claimed({ paths: ['src/a.ts'], session_id: one }, ana);
  expect(await claim({ repo, symbols: ['src/a.ts#parse'], session_id: two }, ana)).toMatchObject({ code: 'CLAIM_CONFLICT' });
  const codex = await developer('ana', 'codex');
  expect(await claim({ repo, paths: ['src'] }, codex)).toMatchObject({ code: 'CLAIM_CONFLICT', next: expect.stringContaining('claude-code@ana') });
  await claimed({ paths: ['src'] }, ana);
});

test('claiming the same scope again renews the claim, in any order of paths, and can change its mode', async () => {
  const { ana, claim, claimed, clock, mira } = await team();
  const first = await claimed({ paths: ['a', 'b'], mode: 'shared', ttl_minutes: 10 }, ana);
  clock.advance(5 * MINUTE);
  const again = await claimed({ paths: ['b', 'a', 'b'] }, ana);
  expect(again).toEqual({ claim_id: first.claim_id, expires_at: clock.now() + 10 * MINUTE, mode: 'shared', renewed: true });
  expect(await claimed({ paths: ['a', 'b'], mode: 'exclusive', ttl_minutes: 20 }, ana)).toMatchObject({ claim_id: first.claim_id, mode: 'exclusive' });
  expect(await claim({ repo, paths: ['b'], mode: 'shared' }, mira)).toMatchObject({ code: 'CLAIM_CONFLICT' });
});

test('a claim that is not renewed expires, no longer blocks others, and writes one event [coordination.claim.expires]', async () => {
  const { ana, app, beat, check, claim, claimed, clock, database, developer, events, mira, release } = await team();
  const { claim_id } = await claimed({ paths: ['a.ts'], ttl_minutes: 10 }, ana);
  const zoe = await developer('zoe', undefined, 'ws_beta');
  await claimed({ paths: ['a.ts'], ttl_minutes: 10 }, zoe);
  const second = await testApp({ database, clock });
  clock.advance(10 * MINUTE - 1);
  expect(await claim({ repo, paths: ['a.ts'] }, mira)).toMatchObject({ code: 'CLAIM_CONFLICT' });
  clock.advance(1);
  expect(await check({ repo, paths: ['a.ts'] }, mira)).toMatchObject({ status: 'ok', data: { conflicts: [], file_conflicts: [] } });
  await claimed({ paths: ['a.ts'] }, mira);
  expect((await beat(ana)).reply).toMatchObject({ data: { renewed_claims: 0 } });
  expect(await release({ claim_id }, ana)).toMatchObject({ status: 'warning', code: 'CLAIM_EXPIRED' });
  // The close of a server waits until its current sweep has finished.
  await second.app.close();
  clock.advance(1);
  await expect.poll(async () => (await events({ kind: 'claim.expired' }, 'ws_beta')).length).toBe(1);
  await expect.poll(async () => (await events({ kind: 'claim.expired' })).length).toBe(1);
  expect(await events({ kind: 'claim.expired' })).toMatchObject([{ subject: claim_id, payload: { repo, paths: ['a.ts'] } }]);
  expect(await liveClaims(app.store.reader, ana.principal.workspace, ana.principal, clock.now())).toMatchObject([{ developer: 'mira' }]);
});

test('a heartbeat of the holder renews a claim; a heartbeat of another agent or session does not [coordination.claim.renewed]', async () => {
  const { ana, app, beat, claimed, clock, mira, session } = await team();
  const [one, two] = [await session(ana), await session(ana)];
  const ofOne = await claimed({ paths: ['a.ts'], session_id: one }, ana);
  const ofNone = await claimed({ paths: ['b.ts'] }, ana);
  const expiries = async () => {
    const claims = await liveClaims(app.store.reader, ana.principal.workspace, ana.principal, clock.now());
    return [ofOne, ofNone].map(({ claim_id }) => claims.find((claim) => claim.claim_id === claim_id)?.expires_at);
  };
  clock.advance(30 * MINUTE);
  await beat(mira);
  expect(await expiries()).toEqual([ofOne.expires_at, ofNone.expires_at]);
  expect((await beat(ana)).reply).toMatchObject({ data: { renewed_claims: 1 } });
  expect(await expiries()).toEqual([ofOne.expires_at, clock.now() + 60 * MINUTE]);
  await beat(ana, two);
  expect((await expiries())[0]).toBe(ofOne.expires_at);
  expect((await beat(ana, one)).reply).toMatchObject({ data: { renewed_claims: 2 } });
  expect((await expiries())[0]).toBe(clock.now() + 60 * MINUTE);
  clock.advance(59 * MINUTE);
  expect(await fileConflicts(app.store.reader, mira.principal.workspace, { files: ['a.ts'], repo, viewer: mira.principal, now: clock.now() })).toHaveLength(1);
});

test('a server whose clock is behind does not renew a lease that another server has ended and reassigned', async () => {
  // No sweep runs on either server, so the end is not recorded until somebody claims the code.
  const unswept = () => ({ ...testClock(), every: () => () => true });
  const { ana, app, claimed, clock, database, mira } = await team({ clock: unswept() });
  const behind = await testApp({ database, clock: unswept() });
  await claimed({ paths: ['a.ts'] }, ana);
  clock.advance(60 * MINUTE);
  const { claim_id } = await claimed({ paths: ['a.ts'] }, mira);
  expect((await operations(behind).beat(ana)).reply).toMatchObject({ status: 'ok', data: { renewed_claims: 0 } });
  expect((await liveClaims(app.store.reader, ana.principal.workspace, ana.principal, clock.now())).map((claim) => claim.claim_id)).toEqual([claim_id]);
});

test("release ends the holder's claim and frees the code; only the owner can do it, and repeating it is harmless [coordination.release.frees]", async () => {
  const { ana, app, claim, claimed, clock, developer, events, mira, release } = await team();
  const { claim_id } = await claimed({ paths: ['a.ts'] }, ana);
  const files = () => fileConflicts(app.store.reader, mira.principal.workspace, { files: ['a.ts'], repo, viewer: mira.principal, now: clock.now() });
  expect(await files()).toMatchObject([{ source: 'claim', source_id: claim_id, owner: 'ana' }]);
  const foreign = await release({ claim_id }, mira);
  expect(foreign).toMatchObject({ status: 'error', code: 'CLAIM_NOT_FOUND', data: { field: 'claim_id' } });
  expect(await release({ claim_id: 'claim_none' }, mira)).toEqual(JSON.parse(JSON.stringify(foreign).replaceAll(claim_id, 'claim_none')));
  expect(await claim({ repo, paths: ['a.ts'] }, mira)).toMatchObject({ code: 'CLAIM_CONFLICT' });

  expect(await release({ claim_id }, await developer('ana'))).toMatchObject({ status: 'ok', data: { claim_id } });
  expect(await files()).toEqual([]);
  await claimed({ paths: ['a.ts'] }, mira);
  expect(await release({ claim_id }, ana)).toMatchObject({ status: 'warning', code: 'CLAIM_ALREADY_RELEASED' });
  expect(await events({ kind: 'claim.released' })).toHaveLength(1);
});

test('check_conflicts reports conflicting live claims, the modes they refuse, and files in use, and changes nothing [coordination.conflicts.check]', async () => {
  const { ana, app, check, claimed, events, mira } = await team();
  await claimed({ paths: ['src/a.ts', 'docs/**'], mode: 'shared' }, ana);
  const held = await claimed({ symbols: ['src/b.ts#parse'] }, ana);
  const before = (await events({ category: 'work' })).length;
  expect(await check({ repo, paths: ['src/**'] }, mira)).toMatchObject({
    status: 'warning',
    code: 'CLAIM_CONFLICT',
    data: {
      conflicts: [
        { mode: 'shared', meets: { paths: ['src/a.ts'], symbols: [] }, refuses: ['exclusive'] },
        { claim_id: held.claim_id, mode: 'exclusive', meets: { paths: [], symbols: ['src/b.ts#parse'] }, refuses: ['exclusive', 'shared'] },
      ],
    },
  });
  expect(await check({ repo, paths: ['src/a.ts'], mode: 'shared' }, mira)).toMatchObject({ status: 'ok', data: { conflicts: [] } });
  expect(await check({ repo, paths: ['src/**'] }, ana)).toMatchObject({ status: 'ok', data: { conflicts: [] } });
  expect((await events({ category: 'work' })).length).toBe(before);
  const annotations = app.registry.tool('covibe_coordination')?.operations.get('check_conflicts')?.contract.annotations;
  expect(annotations?.readOnlyHint).toBe(true);
});

test('an edit is denied only by an exclusive claim of another agent that covers the file', async () => {
  const { ana, app, claimed, clock, mira, release } = await team();
  const exclusive = await claimed({ paths: ['src/upload'] }, ana);
  await claimed({ paths: ['docs/**'], mode: 'shared' }, ana);
  await claimed({ symbols: ['lib/a.ts#parse'] }, ana);
  const deniedTo = async ({ principal: { actor, workspace } }: TestCaller, path: string) => {
    const files = [{ repo: 'https://github.com/acme/app.git', path }];
    const conflicts = await editConflicts(app.store.reader, workspace, files, (claim) => claim.actor === actor, clock.now());
    return conflicts.map(({ claim }) => claim.id);
  };
  expect(await deniedTo(mira, 'src/upload/retry.ts')).toEqual([exclusive.claim_id]);
  expect(await deniedTo(ana, 'src/upload/retry.ts')).toEqual([]);
  for (const path of ['src/uploads.ts', 'docs/a.md', 'lib/a.ts']) expect(await deniedTo(mira, path)).toEqual([]);
  await release({ claim_id: exclusive.claim_id }, ana);
  expect(await deniedTo(mira, 'src/upload/retry.ts')).toEqual([]);
});

test('a claim of a private developer blocks others without naming the holder, who cannot be asked', async () => {
  const { ana, claim, claimed, done, mira } = await team();
  await claimed({ paths: ['a.ts'] }, ana);
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const answer = await claim({ repo, paths: ['a.ts'] }, mira);
  expect(answer).toMatchObject({ code: 'CLAIM_CONFLICT', data: { conflicts: [{ developer: '@private', agent_type: null }] } });
  expect(JSON.stringify(answer)).not.toMatch(new RegExp(`ana\\b|${ana.principal.developerId}|to: `));
});

test('only developers can claim, at most 200 claims each', async () => {
  const { ana, claim, operator, app } = await team();
  const principal = { ...operator.principal, subjects: ana.principal.subjects };
  expect(await claim({ repo, paths: ['a'] }, { ...operator, principal })).toMatchObject({ code: 'DEVELOPER_REQUIRED' });
  for (let i = 0; i < 200; i++) await claim({ repo, paths: [`f${i}`] }, ana);
  expect(await claim({ repo, paths: ['one-more'] }, ana)).toMatchObject({ status: 'error', code: 'CLAIM_LIMIT' });
  expect(await claim({ repo, paths: ['f7'] }, ana)).toMatchObject({ status: 'ok' });
  await app.close();
});

test('an ended session cannot claim, because its claim would never be released', async () => {
  const { ana, call, claim, claimed, mira, session, tool } = await team();
  const ended = await session(ana);
  await tool('covibe_session', { operation: 'end', session_id: ended }, ana);
  expect(await claim({ repo, paths: ['a'], session_id: ended }, ana)).toMatchObject({ code: 'SESSION_ENDED', data: { field: 'session_id' } });
  const { claim_id } = await claimed({ paths: ['b'] }, mira);
  const offer = (await call('handoff')({ to: 'ana', message: 'yours', claim_ids: [claim_id] }, mira)).data as { handoff_id: string };
  expect(await call('accept_handoff')({ handoff_id: offer.handoff_id, session_id: ended }, ana)).toMatchObject({ code: 'SESSION_ENDED' });
  expect(await call('accept_handoff')({ handoff_id: offer.handoff_id }, ana)).toMatchObject({ data: { claim_ids: [claim_id] } });
});

test('a path is trimmed, and must not contain control characters', async () => {
  const { ana, claim, claimed, mira } = await team();
  await claimed({ paths: [' src/a.ts '] }, ana);
  expect(await claim({ repo, paths: ['src/a.ts'] }, mira)).toMatchObject({ code: 'CLAIM_CONFLICT' });
  expect(await claim({ repo, paths: ['src/a\n.ts'] }, mira)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'paths[0]' } });
});

test('with many conflicting claims, the answer gives the first in full, their number, and when the last one ends', async () => {
  const { ana, claim, claimed, clock, mira } = await team();
  for (let i = 0; i < 25; i++) await claimed({ paths: [`src/f${i}.ts`], ttl_minutes: 10 + i }, ana);
  const answer = await claim({ repo, paths: ['src/**'] }, mira);
  expect((answer.data as { conflicts: object[] }).conflicts).toHaveLength(20);
  expect(answer).toMatchObject({ status: 'blocked', message: expect.stringContaining('24 more conflicting claim(s)') });
  expect((answer as { next: string }).next).toContain(new Date(clock.now() + 34 * MINUTE).toISOString());
});

test('the password in a remote URL is stored nowhere', async () => {
  const { ana, claimed, events, mira, claim } = await team();
  await claimed({ repo: 'https://ana:hunter2@github.com/acme/app', paths: ['a'] }, ana);
  expect(JSON.stringify(await claim({ repo, paths: ['a'] }, mira))).not.toContain('hunter2');
  expect(JSON.stringify(await events())).not.toContain('hunter2');
});

test('approvals and grants apply to the repository that the client reports, as to a named one', async () => {
  const { app, done, developer } = await team();
  const cara = await developer('cara');
  const claim = (repo: string) => {
    const place = { folder: '/home/cara/app', repo, branch: null };
    return app.dispatch.tool({ name: 'covibe_coordination', args: { operation: 'claim', paths: ['a.ts'] }, principal: cara.principal, surface: 'mcp', place });
  };
  const action = 'tool.call.covibe_coordination';
  await done('capabilities.revoke', { action: 'toolset.team', token: cara.tokenId });
  const meant = { operation: 'claim', paths: ['a.ts'], repo };
  await done('capabilities.grant', { action, token: cara.tokenId, scope: { arguments: { allow: [meant] } } });
  expect((await claim('github.com/acme/other')).isError).toBe(true);
  expect((await claim(repo)).isError).toBe(false);
  await done('capabilities.revoke', { action, token: cara.tokenId });
  await done('capabilities.grant', { action, token: cara.tokenId, scope: { approve: true } });
  const asked = claim(repo);
  const { approval_id, arguments: shown } = await waiting({ done });
  expect(JSON.parse(String(shown))).toEqual(meant);
  await done('approvals.approve', { approval_id });
  expect((await asked).isError).toBe(false);
});
