import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { edit, hooksApp, MINUTE, REPO } from '../../../testing/scenes/hooks.ts';
import { eventRedactor } from '../identity/index.ts';

test("a live exclusive claim denies another agent's edit and names holder, reason, expiry and next step; it does not block the start of a session [coordination.claim.blocks-edit]", async () => {
  const t = await hooksApp();
  const claim = await t.claimed(['src/upload/**'], t.cursor, { reason: 'retries\nof uploads' });
  const until = new Date(t.clock.now() + 60 * MINUTE).toISOString();
  const denied = await t.hear('before-tool', { ...edit('src/upload/retry.ts'), tool: 'Edit' });
  expect(denied).toMatchObject({ decision: 'deny', context: null });
  expect(denied.reason).toBe(
    `This edit was not made. src/upload/retry.ts: claimed (exclusive) by ben until ${until}, for "retries of uploads". ` +
      `Ask the holder: covibe_coordination with operation "ask", to "ben" and a message. Or wait until ${until}, or work on other files.`,
  );
  expect(await t.hear('before-tool', edit('src/other.ts', 'README.md'))).toMatchObject({ decision: 'allow', reason: null });
  expect(await t.hear('before-tool', { tool: 'Read' })).toMatchObject({ decision: 'allow' });
  expect(await t.hear('before-tool', { edits: [{ repo: 'github.com/acme/other', path: 'src/upload/retry.ts' }] })).toMatchObject({ decision: 'allow' });
  await t.started({ title: 'Rework the uploads', target_files: ['src/upload/retry.ts'] }, t.claude);
  const asked = await t.call('covibe_coordination', 'ask', { to: 'ben', message: 'May I?' }, t.claude);
  expect(asked.status).toBe('ok');
  await t.call('covibe_coordination', 'release', { claim_id: claim }, t.cursor);
  expect(await t.hear('before-tool', edit('src/upload/retry.ts'))).toMatchObject({ decision: 'allow' });
});

test('a shared claim, a claim on symbols and an expired claim deny no edit', async () => {
  const t = await hooksApp();
  await t.claimed(['docs/**'], t.cursor, { mode: 'shared' });
  await t.claimed([], t.cursor, { symbols: ['src/a.ts#parse'] });
  await t.claimed(['src/b.ts'], t.cursor, { ttl_minutes: 5 });
  expect((await t.hear('before-tool', edit('docs/a.md', 'src/a.ts'))).decision).toBe('allow');
  expect((await t.hear('before-tool', edit('src/b.ts'))).decision).toBe('deny');
  t.clock.advance(5 * MINUTE);
  expect((await t.hear('before-tool', edit('src/b.ts'))).decision).toBe('allow');
});

test('a private holder is not named and cannot be asked; another agent of the same developer is named by type and can be asked', async () => {
  const t = await hooksApp();
  await t.claimed(['a.ts'], t.cursor);
  await t.claimed(['b.ts'], t.codex);
  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const hidden = await t.hear('before-tool', edit('a.ts'));
  expect(hidden.reason).toMatch(/claimed \(exclusive\) by @private until \S+\. Wait until/);
  expect(hidden.reason).not.toMatch(/ben\b|cursor|dev_/);
  const own = await t.hear('before-tool', edit('b.ts'));
  expect(own.reason).toContain('by codex of yours until');
  expect(own.reason).toContain('to "codex@ana"');
});

test('an agent is not denied by its own claims, whatever their session, but is denied by the claims of its other active runs', async () => {
  const t = await hooksApp();
  const [mine, other] = [await t.begun('run-1'), await t.begun('run-2')];
  await t.claimed(['mine.ts'], t.claude, { session_id: mine });
  await t.claimed(['bare.ts'], t.claude);
  await t.claimed(['started.ts'], t.claude, { session_id: await t.session(t.claude) });
  await t.claimed(['other.ts'], t.claude, { session_id: other });
  const decide = async (path: string, client_session = 'run-1') => (await t.hear('before-tool', { ...edit(path), client_session })).decision;
  for (const path of ['mine.ts', 'bare.ts', 'started.ts']) expect([path, await decide(path)]).toEqual([path, 'allow']);
  expect(await decide('other.ts')).toBe('deny');
  expect(await decide('mine.ts', 'run-2')).toBe('deny');
  // Git does not know which run called it, so the claim of any run may belong to the caller.
  const commit = { ...edit('mine.ts', 'other.ts'), client: 'git', client_session: undefined };
  expect((await t.hear('commit', commit)).decision).toBe('allow');
  // The other run has been silent for so long that it does not count as active any more.
  t.clock.advance(20 * MINUTE);
  await t.call('covibe_session', 'heartbeat', { session_id: other }, t.claude);
  expect(await decide('other.ts')).toBe('deny');
  t.clock.advance(11 * MINUTE);
  expect(await decide('other.ts')).toBe('allow');
});

test("claims of the developer's other agents deny an agent, but not the developer in person", async () => {
  const t = await hooksApp();
  await t.claimed(['a.ts'], t.codex, { session_id: await t.begun('run-9', t.codex) });
  await t.claimed(['b.ts'], t.cursor);
  expect((await t.hear('before-tool', edit('a.ts'))).decision).toBe('deny');
  const git = { client: 'git', client_session: undefined };
  expect((await t.hear('commit', { ...edit('a.ts'), ...git })).decision).toBe('deny');
  expect((await t.hear('commit', { ...edit('a.ts'), ...git, person: true })).decision).toBe('allow');
  const denied = await t.hear('push', { ...edit('a.ts', 'b.ts'), ...git, person: true }, t.ana);
  expect(denied.reason).toMatch(/^This push was not made\. b\.ts: claimed \(exclusive\) by ben until/);
  expect(await t.run()).toBeDefined();
  expect(await t.app.store.reader.selectFrom('client_runs').select('client').distinct().execute()).toEqual([{ client: 'claude-code' }]);
});

test('the denial of a large commit names ten files and the number of the others; the claims are read once', async () => {
  const t = await hooksApp();
  await t.claimed(['src/**'], t.cursor);
  await t.claimed(['lib/**'], t.codex);
  const paths = ['lib/z.ts', ...Array.from({ length: 40 }, (_, index) => `src/f${index}.ts`), 'README.md'];
  const denied = await t.hear('commit', { ...edit(...paths), client: 'git', client_session: undefined });
  expect(denied.reason?.match(/claimed \(exclusive\)/g)).toHaveLength(10);
  expect(denied.reason).toContain('; and 31 more.');
  expect(denied.reason).toContain('to "codex@ana"');
  expect(denied.reason).toContain('to "ben"');
  expect(await t.events({ kind: 'edit.denied' })).toHaveLength(10);
});

test('a denial is recorded with claim, path, client and tool; a retry within a minute is not recorded again', async () => {
  const t = await hooksApp();
  const session = await t.begun('run-1');
  const claim = await t.claimed(['a.ts', 'b.ts'], t.cursor);
  const attempt = (path: string) => t.hear('before-tool', { ...edit(path), tool: 'Write' });
  for (const path of ['a.ts', 'b.ts', 'a.ts', 'a.ts']) expect((await attempt(path)).decision).toBe('deny');
  const denials = await t.events({ kind: 'edit.denied' });
  expect(denials.map(({ payload }) => payload.path)).toEqual(['a.ts', 'b.ts']);
  expect(denials[0]).toMatchObject({
    category: 'work',
    actor: t.claude.principal.actor,
    subject: claim,
    session,
    payload: { claim_id: claim, path: 'a.ts', client: 'claude-code', tool: 'Write' },
  });
  t.clock.advance(MINUTE);
  await attempt('a.ts');
  expect(await t.events({ kind: 'edit.denied' })).toHaveLength(3);
  expect(Object.keys(JSON.parse((await t.run())?.denials ?? ''))).toEqual([`${claim} a.ts`]);
});

test('many simultaneous denied edits of one file are recorded once', async () => {
  const t = await hooksApp();
  await t.begun('run-1');
  await t.claimed(['a.ts'], t.cursor);
  await Promise.all(Array.from({ length: 5 }, () => t.hear('before-tool', edit('a.ts'))));
  expect(await t.events({ kind: 'edit.denied' })).toHaveLength(1);
});

test('the denial of a commit that is retried within a minute is recorded once for each file and agent', async () => {
  const t = await hooksApp();
  const claim = await t.claimed(['a.ts', 'b.ts', 'deep/**'], t.cursor);
  const commit = (caller: TestCaller, ...paths: string[]) => t.hear('commit', { ...edit(...paths), client: 'git', client_session: undefined }, caller);
  for (let attempt = 0; attempt < 3; attempt++) expect((await commit(t.claude, 'a.ts')).decision).toBe('deny');
  const long = `deep/${'x'.repeat(400)}.ts`;
  for (let attempt = 0; attempt < 2; attempt++) await commit(t.claude, 'a.ts', 'b.ts', long);
  await commit(t.codex, 'a.ts');
  const recorded = (await t.events({ kind: 'edit.denied' })).map(({ actor, subject, payload }) => [actor, subject, String(payload.path).slice(0, 5)]);
  const [claude, codex] = [t.claude, t.codex].map(({ principal }) => principal.actor);
  expect(recorded).toEqual([
    [claude, claim, 'a.ts'],
    [claude, claim, 'b.ts'],
    [claude, claim, 'deep/'],
    [codex, claim, 'a.ts'],
  ]);
  t.clock.advance(MINUTE);
  await commit(t.claude, 'a.ts');
  expect(await t.events({ kind: 'edit.denied' })).toHaveLength(5);
});

test('a before-tool hook writes only a sign of life every 20 seconds, which keeps the session and its claims alive', async () => {
  const t = await hooksApp();
  const session = await t.begun('run-1');
  const claim = await t.claimed(['a.ts'], t.claude, { session_id: session, ttl_minutes: 10 });
  const state = async () => ({
    events: (await t.events()).length,
    run: (await t.run())?.last_seen_at,
    session: (await t.app.store.reader.selectFrom('agent_sessions').select('last_seen_at').where('id', '=', session).executeTakeFirst())?.last_seen_at,
    lease: (await t.app.store.reader.selectFrom('claims').select('expires_at').where('id', '=', claim).executeTakeFirst())?.expires_at,
  });
  const before = await state();
  t.clock.advance(19_000);
  await t.hear('before-tool', edit('a.ts'));
  await t.hear('after-tool');
  expect(await state()).toEqual(before);
  t.clock.advance(1_000);
  await t.hear('before-tool', edit('a.ts'));
  const now = t.clock.now();
  expect(await state()).toEqual({ events: before.events, run: now, session: now, lease: now + 10 * MINUTE });
});

test('an instance is one agent however often its program starts; the operator and unknown callers are refused with a message', async () => {
  const t = await hooksApp();
  const principal = { ...t.claude.principal, kind: 'instance', instanceId: 'work-7-a1', agentType: null, actor: 'instance:work-7-a1' } as const;
  const instance = { ...t.claude, principal };
  const [first, second] = [await t.begun('first', instance), await t.begun('second', instance)];
  expect(first).not.toBe(second);
  await t.claimed(['a.ts'], instance, { session_id: second });
  expect((await t.hear('before-tool', { ...edit('a.ts'), client_session: 'first' }, instance)).decision).toBe('allow');
  expect((await t.hear('before-tool', edit('a.ts'))).decision).toBe('deny');
  expect((await t.action('hooks.hear', { client: 'codex', event: 'before-tool' }, t.operator)).reply).toMatchObject({ code: 'TOKEN_REQUIRED' });
  const unknown = { client: 'codex', event: 'before-tool', prompt: 'canary', edits: [{ repo: REPO, path: '/etc/passwd' }] };
  const { reply } = await t.action('hooks.hear', unknown, t.claude);
  expect(reply).toMatchObject({ code: 'INVALID_INPUT', data: { issues: [{ field: 'edits[0].path' }, { field: 'prompt' }] } });
  expect(JSON.stringify(reply)).not.toContain('canary');
});

test('every answer says whether edits are blocked while the server is unreachable', async () => {
  const t = await hooksApp();
  expect((await t.hear('prompt')).fail_closed).toBe(false);
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 1 });
  for (const event of ['session-start', 'prompt', 'before-tool', 'after-tool', 'stop', 'compact', 'session-end'] as const) {
    expect([event, (await t.hear(event)).fail_closed]).toEqual([event, true]);
  }
});

test('an edit of a file that no claim can name is still denied in a claimed folder, and does not prevent the check of other files or the end of a run', async () => {
  const t = await hooksApp();
  const odd = ['~notes.md', 'a\\b.ts', 'C:x', 'two\nlines'];
  await t.claimed(['src/**'], t.cursor);
  expect((await t.hear('before-tool', edit(...odd))).decision).toBe('allow');
  expect((await t.hear('before-tool', edit(...odd, 'src/a.ts'))).reason).toContain('src/a.ts: claimed');
  await t.claimed(['**'], t.cursor);
  expect((await t.hear('before-tool', edit(...odd))).reason).toMatch(
    /^This edit was not made\. ~notes\.md: claimed .*; a\\b\.ts: claimed .*; C:x: claimed .*; "two lines": claimed/,
  );
  const session = await t.begun('run-1');
  await t.hear('session-end', { repo: REPO, dirty_files: odd });
  expect(await t.events({ kind: 'session.ended' })).toMatchObject([{ subject: session }]);
});

test('a file under several claims of one holder is reported once, with the latest expiry', async () => {
  const t = await hooksApp();
  await t.claimed(['src/**'], t.cursor, { ttl_minutes: 60 });
  await t.claimed(['src/a.ts'], t.cursor, { ttl_minutes: 90 });
  await t.claimed(['**/*.ts'], t.cursor, { ttl_minutes: 30 });
  const until = new Date(t.clock.now() + 90 * MINUTE).toISOString();
  const { reason } = await t.hear('before-tool', edit('src/a.ts'));
  expect(reason).toMatch(new RegExp(`^This edit was not made\\. src/a\\.ts: claimed \\(exclusive\\) by ben until ${until}\\. Ask .* wait until ${until}, or`));
  expect(await t.events({ kind: 'edit.denied' })).toHaveLength(1);
});

test('other callers are served while many files are checked against many claims', async () => {
  const t = await hooksApp();
  await t.claimed(['src/**'], t.cursor);
  const paths = Array.from({ length: 500 }, (_, index) => `docs/${index}.md`);
  let turns = 0;
  let heard = false;
  const turn = () => {
    turns++;
    if (!heard) setImmediate(turn);
  };
  setImmediate(turn);
  await t.hear('before-tool', edit(...paths));
  heard = true;
  expect(turns).toBeGreaterThan(45);
});

test('after the clock is set back, an active run still keeps its claims', async () => {
  const t = await hooksApp();
  const session_id = await t.begun('run-1');
  t.clock.advance(-120 * MINUTE);
  const claim = await t.claimed(['a.ts'], t.claude, { session_id, ttl_minutes: 10 });
  t.clock.advance(9 * MINUTE);
  await t.hear('before-tool');
  const { expires_at } = await t.app.store.reader.selectFrom('claims').select('expires_at').where('id', '=', claim).executeTakeFirstOrThrow();
  expect(expires_at).toBe(t.clock.now() + 10 * MINUTE);
});

test('others can read which edits of a private developer were denied, but not which agent tried them', async () => {
  const t = await hooksApp();
  const claim = await t.claimed(['a.ts'], t.cursor);
  await t.begun('run-1');
  await t.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  await t.hear('before-tool', { ...edit('a.ts'), tool: 'Write' });
  const seenBy = async ({ principal }: TestCaller) => {
    const shown = await eventRedactor(t.app.store.reader, principal.workspace, principal);
    return await shown([...(await t.events({ kind: 'session.started' })), ...(await t.events({ kind: 'edit.denied' }))]);
  };
  expect((await seenBy(t.cursor))[1]).toMatchObject({ actor: '@private', session: null, payload: { claim_id: claim, path: 'a.ts', client: '@private' } });
  expect(JSON.stringify(await seenBy(t.cursor))).not.toMatch(/claude|Write/);
  expect((await seenBy(t.codex))[1]).toMatchObject({ payload: { client: 'claude-code', tool: 'Write' } });
});
