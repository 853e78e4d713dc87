import { expect, test } from 'vitest';
import { cycleApp, readBroker } from '../../testing/scenes/cycle.ts';

/** Checks the basic rules of the broker. Also runs as `npm run smoke:broker`. */

test("the broker enforces turns: old tokens, other roles' turns and early ends are refused; rework and acquiring the lock again are allowed [cycle.smoke.scripts] [cycle.flow.full]", async () => {
  const app = await cycleApp();
  const sessions = { gemini: await app.open('gemini'), codex: await app.open('codex') };
  const { lock_token: first } = await app.ok('cycle.start', { feature: 'featureX' });
  const early = { session_token: sessions.gemini, lock_token: first };
  expect(await app.refused('cycle.archive', early)).toMatchObject({ code: 'ARCHIVE_NOT_ALLOWED' });
  expect(await app.refused('cycle.complete', early)).toMatchObject({ code: 'INVALID_PHASE' });
  expect(await app.refused('lock.acquire', { session_token: sessions.codex })).toMatchObject({
    code: 'LOCK_DENIED',
    message: 'role is not active for the current phase',
    details: { activeRole: 'gemini', requestedRole: 'codex' },
  });

  const written = await app.handOver('codex', sessions.gemini);
  expect(await app.refused('lock.acquire', { session_token: sessions.gemini })).toMatchObject({ code: 'LOCK_DENIED', details: { activeRole: 'codex' } });
  await app.handOver('gemini', sessions.codex);
  const stale = { ...early, target: 'codex', payload: await app.payload('codex') };
  expect(await app.refused('handoff.write', stale)).toMatchObject({ code: 'LOCK_DENIED' });

  await app.handOver('codex', sessions.gemini, { payload: await app.payload('codex', { todos: ['once more'] }) });
  await app.handOver('gemini', sessions.codex);
  const shown = JSON.stringify([
    written,
    await app.ok('cycle.status'),
    await app.ok('handoff.read', { target: 'codex' }),
    readBroker(app.repository, 'lock.json'),
  ]);
  const { lock_token } = await app.ok('lock.acquire', { session_token: sessions.gemini });
  for (const token of [first, lock_token]) expect(shown).not.toContain(token);
  expect(await app.ok('handoff.read', { target: 'codex' })).toMatchObject({ todos: ['once more'] });

  await app.ok('cycle.complete', { session_token: sessions.gemini, lock_token });
  const again = await app.ok('lock.acquire', { session_token: sessions.gemini });
  expect(again).toMatchObject({ lock_token });
  const { cycle_id } = await app.ok('cycle.archive', { session_token: sessions.gemini, lock_token: again.lock_token });
  expect(readBroker(app.repository, `archive/${cycle_id}/manifest.json`)).toMatchObject({ cycle_id });
  expect(await app.ok('cycle.status')).toMatchObject({ cycle_id: null, lock: { locked: false } });
  expect(readBroker(app.repository, 'state.json')).toMatchObject({ active: false, phase: null });
});
