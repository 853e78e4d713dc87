import { expect, test } from 'vitest';
import { brokerRepository, CONFIG, cycleApp, PSKS, readBroker, writeConfig } from '../../testing/scenes/cycle.ts';

/** Each entry of the handbook: the symptom, then its fix by the letter. */

test('CONFIG_INVALID: put both PSKs into config.json [config.broker.missing-psk]', async () => {
  const app = await cycleApp({ repository: brokerRepository({ ...CONFIG, agents: { gemini: CONFIG.agents.gemini } }) });
  const open = { role: 'gemini', psk: PSKS.gemini };
  const first = await app.refused('session.open', open);
  expect(first).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('agents.codex.psk is missing') });
  expect(first.details.next).toBe('Put a psk there for each of gemini, codex, or run: covenant cycle init.');
  // Nothing has to be started anew: the file is read by the next call.
  writeConfig(app.repository, CONFIG);
  const { session_token } = await app.ok('session.open', open);
  await app.ok('cycle.start', { feature: 'x' });
  await app.ok('lock.acquire', { session_token });
});

test('INVALID_SESSION: call session.open again and use the new token [session.open.unknown-token]', async () => {
  const app = await cycleApp();
  const expired = await app.open('gemini');
  await app.ok('cycle.start', { feature: 'x' });
  app.clock.advance(12 * 3_600_000);
  const good = await app.open('gemini');
  for (const session_token of [expired, `${good.slice(0, -1)}?`, 'sess_unknown']) {
    const { code, details } = await app.refused('lock.acquire', { session_token });
    expect(code).toBe('INVALID_SESSION');
    expect(details.next).toBe('Call session.open again for your role and use the new session_token.');
  }
  const { session_token } = await app.ok('session.open', { role: 'gemini', psk: PSKS.gemini });
  await app.ok('lock.acquire', { session_token });
  // Opening another does not end the first.
  await app.ok('lock.acquire', { session_token: good });
});

test('LOCK_DENIED after a phase transition: cycle.status, lock.acquire by the active role, retry with its token [lock.token.old-refused] [handoff.write.active-role]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  const { lock_token: old } = await app.ok('cycle.start', { feature: 'x' });
  await app.handOver('codex', gemini);

  // The role is not active: it waits, as it is told, until cycle.status names it.
  const early = await app.refused('lock.acquire', { session_token: gemini });
  expect(early).toMatchObject({ code: 'LOCK_DENIED', details: { activeRole: 'codex', requestedRole: 'gemini' } });
  expect(early.details.next).toBe('It is the turn of codex: wait until cycle.status names gemini as active_role, then call lock.acquire.');
  expect((await app.ok('cycle.status')).active_role).toBe('codex');

  // An old token, by the role whose turn it is.
  const write = { target: 'gemini', payload: await app.payload('gemini'), session_token: codex };
  const stale = await app.refused('handoff.write', { ...write, lock_token: old });
  expect(stale).toMatchObject({ code: 'LOCK_DENIED', details: { activeRole: 'codex', requestedRole: 'codex' } });
  expect(stale.details.next).toBe('Call lock.acquire with your session of codex and use the token that it returns.');
  const { lock_token } = await app.ok('lock.acquire', { session_token: codex });
  await app.ok('handoff.write', { ...write, lock_token });

  expect((await app.ok('cycle.status')).active_role).toBe('gemini');
  const mine = await app.ok('lock.acquire', { session_token: gemini });
  expect((await app.refused('cycle.complete', { session_token: gemini, lock_token: old })).code).toBe('LOCK_DENIED');
  await app.ok('cycle.complete', { session_token: gemini, lock_token: mine.lock_token });
});

test('INVALID_PHASE on handoff.write: look at the phase and use the target that it allows [handoff.write.phase]', async () => {
  const app = await cycleApp();
  const sessions = { gemini: await app.open('gemini'), codex: await app.open('codex') };
  await app.ok('cycle.start', { feature: 'x' });
  const WAYS = [
    ['frontend', 'gemini', 'codex'],
    ['backend', 'codex', 'gemini'],
    ['frontend_refine', 'gemini', 'codex'],
  ] as const;
  for (const [phase, role, right] of WAYS) {
    const { lock_token } = await app.ok('lock.acquire', { session_token: sessions[role] });
    const write = async (target: 'gemini' | 'codex') => ({ target, payload: await app.payload(target), session_token: sessions[role], lock_token });
    const refusal = await app.refused('handoff.write', await write(role));
    expect(refusal).toMatchObject({ code: 'INVALID_PHASE', details: { phase, next: expect.stringContaining(`a handoff to ${right}`) } });
    expect((await app.ok('cycle.status')).phase).toBe(phase);
    await app.ok('handoff.write', await write(right));
  }
});

test('ARCHIVE_NOT_ALLOWED: see that cycle.complete succeeded and the phase is complete [cycle.archive.before-complete]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  await app.ok('cycle.start', { feature: 'x' });
  await app.handOver('codex', gemini);
  await app.handOver('gemini', codex);
  const { lock_token } = await app.ok('lock.acquire', { session_token: gemini });
  const held = { session_token: gemini, lock_token };
  expect(await app.refused('cycle.archive', held)).toMatchObject({
    code: 'ARCHIVE_NOT_ALLOWED',
    details: { phase: 'frontend_refine', next: 'Call cycle.complete first.' },
  });
  await app.ok('cycle.complete', held);
  expect((await app.ok('cycle.status')).phase).toBe('complete');
  const { cycle_id } = await app.ok('cycle.archive', held);
  expect(readBroker(app.repository, `archive/${cycle_id}/manifest.json`).cycle_id).toBe(cycle_id);
});

test('a failed write is diagnosed by its code alone, as the procedure says [handoff.write.lock-token] [handoff.payload.to-codex]', async () => {
  const app = await cycleApp();
  const gemini = await app.open('gemini');
  await app.ok('cycle.start', { feature: 'x' });
  const payload = await app.payload('codex');
  const backwards = { ...payload, producer: 'codex', consumer: 'gemini', notes: undefined };
  let attempt: Record<string, unknown> = { target: 'gemini', payload: backwards, session_token: gemini, lock_token: '0'.repeat(48) };
  const codes: string[] = [];
  for (;;) {
    const { body, isError } = await app.tool('handoff.write', { ...attempt, repository_path: app.repository }, app.ana);
    if (!isError) break;
    const { code, details } = body.error as { code: string; details: { issues: { field: string }[] } };
    codes.push(code);
    if (code === 'LOCK_DENIED') {
      expect((await app.ok('cycle.status')).active_role).toBe('gemini');
      attempt = { ...attempt, lock_token: (await app.ok('lock.acquire', { session_token: gemini })).lock_token };
    } else if (code === 'INVALID_PHASE') {
      expect((await app.ok('cycle.status')).phase).toBe('frontend');
      attempt = { ...attempt, target: 'codex' };
    } else if (code === 'SCHEMA_INVALID') {
      const fields = details.issues.map(({ field }) => field.replace('payload.', ''));
      attempt = { ...attempt, payload: { ...(attempt.payload as object), ...Object.fromEntries(fields.map((field) => [field, payload[field]])) } };
    }
    expect(codes.length).toBeLessThan(9);
  }
  expect(codes).toEqual(['INVALID_PHASE', 'LOCK_DENIED', 'SCHEMA_INVALID', 'SCHEMA_INVALID']);
  expect(await app.ok('handoff.read', { target: 'codex' })).toEqual(payload);
});
