import { realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { brokerFile, brokerRepository, CONFIG, cycleApp, PSKS, writeConfig } from '../../testing/scenes/cycle.ts';
import type { Body } from '../../testing/scenes/workflow.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';

const HOUR = 3_600_000;
type Sessions = { items: Body[] };

test('a role session is opened with the PSK and used with its token [session.open.shape] [session.open.token-prefix] [session.open.wrong-psk] [session.open.unknown-role] [session.open.record] [session.open.touched] [session.open.unknown-token] [storage.broker.config-read]', async () => {
  const app = await cycleApp();
  const sessions = async () => ((await app.done('cycles.sessions', {})) as Sessions).items;
  const opened = app.clock.now();

  const wrong = await app.refused('session.open', { role: 'gemini', psk: PSKS.codex });
  expect(wrong).toEqual({ code: 'AUTH_FAILED', message: 'Invalid role credentials.', details: { role: 'gemini', next: expect.stringMatching(/./) } });
  for (const psk of ['', ' GEMINI_SECRET', 'gemini_secret', 'GEMINI_SECRET\u200b'])
    expect((await app.refused('session.open', { role: 'codex', psk })).code).toBe('AUTH_FAILED');
  for (const role of ['claude', '', 'Gemini', 7, null, undefined, 'constructor'])
    expect((await app.refused('session.open', { role, psk: PSKS.gemini })).code).toBe('INVALID_ROLE');
  expect((await app.refused('session.open', { role: 'gemini' })).code).toBe('SCHEMA_INVALID');
  expect(await sessions()).toEqual([]);

  const answer = await app.ok('session.open', { role: 'gemini', psk: PSKS.gemini });
  expect(answer).toEqual({ session_token: expect.stringMatching(/^sess_[0-9a-f]{48}$/), role: 'gemini' });
  const [session] = await sessions();
  expect(session).toEqual({
    session_id: expect.stringMatching(/^rses_/),
    repository: app.repository,
    role: 'gemini',
    status: 'open',
    actor: app.ana.principal.actor,
    created_at: opened,
    last_seen: opened,
    expires_at: opened + 12 * HOUR,
    closed_at: null,
    closed_by: null,
  });
  const rows = JSON.stringify(await app.app.store.reader.selectFrom('role_sessions').selectAll().execute());
  expect(rows).not.toContain(answer.session_token.slice('sess_'.length));

  // Each use is recorded, whether the call was allowed or refused.
  const { session_token } = answer;
  app.clock.advance(5_000);
  expect((await app.refused('lock.acquire', { session_token })).code).toBe('NO_ACTIVE_CYCLE');
  expect((await sessions())[0].last_seen).toBe(opened + 5_000);
  await app.ok('cycle.start', { feature: 'x' });
  app.clock.advance(5_000);
  await app.ok('lock.acquire', { session_token });
  expect((await sessions())[0]).toMatchObject({ last_seen: opened + 10_000, created_at: opened, expires_at: opened + 12 * HOUR });

  // Only the current PSKs of the file are valid.
  writeConfig(app.repository, { ...CONFIG, agents: { ...CONFIG.agents, gemini: { psk: 'ANOTHER_SECRET' } } });
  expect((await app.refused('session.open', { role: 'gemini', psk: PSKS.gemini })).code).toBe('AUTH_FAILED');
  await app.ok('session.open', { role: 'gemini', psk: 'ANOTHER_SECRET' });
  // Removing a PSK invalidates its sessions; restoring it makes them valid again.
  expect(await app.refused('lock.acquire', { session_token })).toMatchObject({
    code: 'INVALID_SESSION',
    message: expect.stringContaining('an old PSK of gemini'),
  });
  writeConfig(app.repository, CONFIG);
  await app.ok('lock.acquire', { session_token });

  for (const unknown of [`sess_${'0'.repeat(48)}`, session_token.slice(0, -1), session_token.toUpperCase(), '', 7, null, undefined]) {
    const refusal = await app.refused('lock.acquire', { session_token: unknown });
    expect(refusal).toMatchObject({ code: 'INVALID_SESSION', details: { field: 'session_token' } });
  }
  expect((await app.refused('lock.acquire', { session_token: 'x' })).details.next).toBe(
    'Call session.open with your `role` and its `psk`, then repeat the call with the new `session_token`.',
  );
});

test('only the caller that opened a session can use it, and only in its repository and workspace', async () => {
  const app = await cycleApp();
  const elsewhere = brokerRepository();
  const start = (caller = app.ana, repository_path = app.repository) => app.ok('cycle.start', { feature: 'x', repository_path }, caller);
  await start();
  await start(app.ana, elsewhere);
  const session_token = await app.open('gemini');
  const before = await app.done('cycles.sessions', {});
  app.clock.advance(1_000);

  expect(await app.refused('lock.acquire', { session_token }, app.ben)).toMatchObject({ code: 'INVALID_SESSION', message: 'The session token is unknown.' });
  expect(await app.refused('lock.acquire', { session_token, repository_path: elsewhere })).toMatchObject({ code: 'INVALID_SESSION' });
  expect(await app.done('cycles.sessions', {})).toEqual(before);
  expect(((await app.done('cycles.sessions', { repository_path: elsewhere })) as Sessions).items).toEqual([]);

  // Now the same caller uses two workspaces.
  await app.developer('zoe', undefined, 'ws_lab');
  const inLab = { principal: app.operator.principal, surface: 'cli', workspace: 'lab' } as const;
  await app.done('capabilities.grant', { action: 'toolset.cycle' });
  const granted = await app.app.dispatch.action({ ...inLab, name: 'capabilities.grant', args: { action: 'toolset.cycle' } });
  expect(granted.isError).toBe(false);
  const own = await app.open('gemini', app.operator);
  const args = { session_token: own, repository_path: app.repository };
  expect((await app.app.dispatch.tool({ ...inLab, name: 'lock.acquire', args })).body).toMatchObject({ ok: false, error: { code: 'INVALID_SESSION' } });
  await app.ok('lock.acquire', args, app.operator);
});

test('sessions end after twelve hours, after the configured time, or when the operator closes them [session.open.ttl-default] [session.open.closable] [session.open.unknown-token]', async () => {
  const app = await cycleApp();
  const repository_path = brokerRepository({ ...CONFIG, session_ttl_hours: 0.5 });
  await app.ok('cycle.start', { feature: 'x' });
  await app.ok('cycle.start', { feature: 'x', repository_path });
  const long = { session_token: await app.open('gemini') };
  const short = { session_token: (await app.ok('session.open', { role: 'gemini', psk: PSKS.gemini, repository_path })).session_token, repository_path };

  app.clock.advance(HOUR / 2 - 1);
  await app.ok('lock.acquire', short);
  app.clock.advance(1);
  expect(await app.refused('lock.acquire', short)).toMatchObject({ code: 'INVALID_SESSION', message: 'The session token has expired.' });
  app.clock.advance(11.5 * HOUR - 1);
  // A session does not last longer if it is used.
  await app.ok('lock.acquire', long);
  app.clock.advance(1);
  expect(await app.refused('lock.acquire', long)).toMatchObject({ code: 'INVALID_SESSION', message: 'The session token has expired.' });
  const listed = async () => ((await app.done('cycles.sessions', {})) as Sessions).items;
  expect((await listed()).map(({ status }) => status)).toEqual(['expired', 'expired']);

  const session_token = await app.open('gemini');
  await app.ok('lock.acquire', { session_token });
  const { session_id } = (await listed())[0];
  expect((await app.action('cycles.close_session', { session_id }, app.ana)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  const closed = await app.done('cycles.close_session', { session_id });
  expect(closed).toMatchObject({ session_id, status: 'closed', closed_at: app.clock.now(), closed_by: 'operator' });
  expect(await app.refused('lock.acquire', { session_token })).toMatchObject({
    code: 'INVALID_SESSION',
    message: 'The session token belongs to a closed session.',
    details: { next: 'Call session.open with `role` "gemini" and its `psk`, then repeat the call with the new `session_token`.' },
  });
  app.clock.advance(1_000);
  expect(await app.done('cycles.close_session', { session_id })).toEqual(closed);
  expect((await app.action('cycles.close_session', { session_id: 'rses_nope' })).reply).toMatchObject({
    code: 'SESSION_NOT_FOUND',
    data: { field: 'session_id' },
  });
  expect(await app.events({ kind: 'cycle.session_closed' })).toMatchObject([{ category: 'audit', actor: 'operator', subject: session_id }]);
  // The open sessions stay valid when another one is opened.
  for (const open of [await app.open('gemini'), await app.open('gemini')].reverse()) await app.ok('lock.acquire', { session_token: open });

  // Sessions stay in the list for a week after they have expired. Then they are deleted.
  app.clock.advance(20 * 24 * HOUR);
  await until(async () => expect(await listed()).toEqual([]));
});

test('wrong PSKs delay the next attempt of this caller for this role and repository, and are journaled', async () => {
  const app = await cycleApp();
  const attempt = (psk: string, role = 'gemini', caller = app.ana) => app.tool('session.open', { role, psk, repository_path: app.repository }, caller);
  const waits = async (psk: string) => ((await attempt(psk)).body as Body).error?.details.retry_after_ms;

  for (let failure = 1; failure <= 5; failure++)
    expect((await attempt('guess')).body).toMatchObject({ error: { code: 'AUTH_FAILED', details: { role: 'gemini' } } });
  // During the delay even the right PSK is refused. Otherwise the delay would not prevent guessing.
  expect((await attempt(PSKS.gemini)).body).toEqual({
    ok: false,
    error: {
      code: 'AUTH_FAILED',
      message: 'Invalid role credentials.',
      details: { role: 'gemini', retry_after_ms: 1_000, next: 'Too many wrong PSKs. Repeat the call in 1 s.' },
    },
  });
  // The delay also applies to another folder whose config is a link to the same file.
  const linked = realpathSync(temporaryFolder());
  symlinkSync(brokerFile(app.repository, ''), join(linked, '.mcp-broker'));
  expect((await app.refused('session.open', { role: 'gemini', psk: 'guess', repository_path: linked })).details.retry_after_ms).toBe(1_000);
  expect((await attempt(PSKS.codex, 'codex')).isError).toBe(false);
  expect((await attempt(PSKS.gemini, 'gemini', app.ben)).isError).toBe(false);
  await app.ok('session.open', { role: 'gemini', psk: PSKS.gemini, repository_path: brokerRepository() });

  for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    expect(await waits('guess')).toBe(wait);
    app.clock.advance(wait - 1);
    expect(await waits('guess')).toBe(1);
    app.clock.advance(1);
    expect(await waits('guess')).toBe(undefined);
  }
  const journaled = await app.events({ kind: 'cycle.psk_refused' });
  expect(journaled).toHaveLength(13);
  expect(journaled[12]).toMatchObject({
    category: 'audit',
    actor: app.ana.principal.actor,
    payload: { repository: app.repository, role: 'gemini', failures: 13 },
  });

  // The right PSK resets the count.
  app.clock.advance(60_000);
  expect((await attempt(PSKS.gemini)).isError).toBe(false);
  for (let failure = 1; failure <= 5; failure++) expect(await waits('guess')).toBe(undefined);
  expect(await waits('guess')).toBe(1_000);
  // An hour without failures also resets the count and deletes it from the store.
  app.clock.advance(HOUR + 1);
  await until(async () => expect(await app.app.store.reader.selectFrom('psk_failures').selectAll().execute()).toEqual([]));
  expect(await waits('guess')).toBe(undefined);
});
