import { expect, test } from 'vitest';
import { cycleApp } from '../../testing/scenes/cycle.ts';

test('the active role gets the current token, which changes with every turn [lock.acquire.shape] [lock.acquire.current-token] [lock.acquire.no-cycle] [lock.acquire.inactive-role] [lock.acquire.lock-role] [lock.token.random-hex] [lock.token.rotates] [lock.token.old-refused]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  expect((await app.refused('lock.acquire', { session_token: gemini })).code).toBe('NO_ACTIVE_CYCLE');

  const { cycle_id, lock_token } = await app.ok('cycle.start', { feature: 'x' });
  const acquire = async (role: 'gemini' | 'codex') => {
    const other = role === 'gemini' ? 'codex' : 'gemini';
    const denied = await app.refused('lock.acquire', { session_token: role === 'gemini' ? codex : gemini });
    expect(denied).toEqual({
      code: 'LOCK_DENIED',
      message: 'role is not active for the current phase',
      details: { activeRole: role, requestedRole: other, next: expect.stringContaining(`It is the turn of ${role}`) },
    });
    const session_token = role === 'gemini' ? gemini : codex;
    const acquired = await app.ok('lock.acquire', { session_token });
    expect(acquired).toEqual({ cycle_id, role, lock_token: expect.stringMatching(/^[0-9a-f]{48}$/) });
    // Acquiring the lock again does not change the token, so a role that lost the token can get it again.
    expect(await app.ok('lock.acquire', { session_token })).toEqual(acquired);
    return { session_token, lock_token: acquired.lock_token as string };
  };
  const write = async (target: 'codex' | 'gemini', held: object) => ({ target, payload: await app.payload(target), ...held });

  expect((await acquire('gemini')).lock_token).toBe(lock_token);
  await app.ok('handoff.write', await write('codex', { session_token: gemini, lock_token }));
  const second = await acquire('codex');
  await app.ok('handoff.write', await write('gemini', second));
  const third = await acquire('gemini');
  expect(new Set([lock_token, second.lock_token, third.lock_token]).size).toBe(3);

  // All earlier tokens are refused. The refusal contains the active role and the next step.
  for (const old of [lock_token, second.lock_token]) {
    for (const [tool, args] of [
      ['handoff.write', await write('codex', { session_token: gemini, lock_token: old })],
      ['cycle.complete', { session_token: gemini, lock_token: old }],
    ] as const) {
      const stale = await app.refused(tool, args);
      expect(stale).toMatchObject({
        code: 'LOCK_DENIED',
        message: 'the lock token is not the current one',
        details: { activeRole: 'gemini', requestedRole: 'gemini' },
      });
      expect(stale.details.next).toContain('lock.acquire');
    }
  }
});

test('if another role holds the lock, the active role cannot acquire it and cannot write a handoff [lock.acquire.lock-role] [handoff.write.lock-role]', async () => {
  const app = await cycleApp();
  const session_token = await app.open('gemini');
  const { lock_token } = await app.ok('cycle.start', { feature: 'x' });
  // No call leads to this state, so the test changes the store.
  await app.app.store.write(app.ana.principal.workspace, async (tx) => void (await tx.db.updateTable('cycles').set({ lock_role: 'codex' }).execute()));
  const denied = { code: 'LOCK_DENIED', message: 'the lock is not held by the active role' };
  expect(await app.refused('lock.acquire', { session_token })).toMatchObject(denied);
  expect(await app.refused('handoff.write', { target: 'codex', session_token, lock_token, payload: await app.payload('codex') })).toMatchObject(denied);
  expect((await app.refused('lock.acquire', { session_token: await app.open('codex') })).message).toBe('role is not active for the current phase');
  expect(await app.ok('cycle.status')).toMatchObject({ phase: 'frontend', handoffs: { codex: { status: 'empty' } } });
});
