import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { brokerFile, cycleApp, PSKS, readBroker } from '../../testing/scenes/cycle.ts';
import { activeCycle, recentHandoffs, type StoredCycle } from './store.ts';

test('the whole way: two sessions, start, hand over there and back, rework, complete, archive [cycle.flow.full]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  const { cycle_id, lock_token } = await app.ok('cycle.start', { feature: 'featureX' });
  expect(await app.handOver('codex', gemini)).toEqual({ ok: true, phase: 'backend', active_role: 'codex', next_step: 'Provide lock_token to codex' });
  expect(await app.handOver('gemini', codex)).toMatchObject({ phase: 'frontend_refine', active_role: 'gemini' });
  expect(await app.handOver('codex', gemini)).toMatchObject({ phase: 'backend', active_role: 'codex' });
  expect(await app.handOver('gemini', codex)).toMatchObject({ phase: 'frontend_refine' });
  const cycle = await activeCycle(app.app.store.reader, 'ws_default', app.repository);
  const { rows, total } = await recentHandoffs(app.app.store.reader, cycle as StoredCycle, 1);
  expect([rows.map(({ number, target }) => `${number} ${target}`), total]).toEqual([['3 codex', '4 gemini'], 4]);
  const acquired = await app.ok('lock.acquire', { session_token: gemini });
  expect(acquired).toMatchObject({ cycle_id, role: 'gemini' });
  expect(acquired.lock_token).not.toBe(lock_token);
  const held = { session_token: gemini, lock_token: acquired.lock_token };
  expect(await app.ok('cycle.complete', held)).toEqual({ ok: true, phase: 'complete', active_role: 'gemini' });
  expect(await app.ok('cycle.archive', held)).toEqual({ ok: true, cycle_id, archived_at: expect.any(String) });
  expect(readdirSync(brokerFile(app.repository, `archive/${cycle_id}`)).sort()).toEqual([
    'config.json',
    'handoff.codex.json',
    'handoff.gemini.json',
    'lock.json',
    'manifest.json',
    'state.json',
  ]);
  expect(readBroker(app.repository, 'state.json')).toMatchObject({ active: false, cycle_id: null });
  expect(existsSync(brokerFile(app.repository, 'handoff/codex.json'))).toBe(false);
  expect(await app.ok('cycle.status')).toMatchObject({ cycle_id: null, lock: { locked: false, role: null } });
  const kept = JSON.stringify(
    readdirSync(brokerFile(app.repository, `archive/${cycle_id}`)).map((file) => readBroker(app.repository, `archive/${cycle_id}/${file}`)),
  );
  for (const secret of [...Object.values(PSKS), gemini, codex, lock_token, acquired.lock_token]) expect(kept).not.toContain(secret);
});
