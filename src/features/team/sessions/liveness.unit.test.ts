import { expect, test } from 'vitest';
import { companionAnswer } from './companion.ts';
import { STALE_AFTER_MS, sessionState } from './contract.ts';

test('a session is stale after more than 30 idle minutes, and not a millisecond before [session.stale.threshold]', () => {
  expect(STALE_AFTER_MS).toBe(30 * 60_000);
  const session = { last_seen_at: 1_000, ended_at: null };
  expect(sessionState(session, 1_000 + STALE_AFTER_MS)).toBe('active');
  expect(sessionState(session, 1_001 + STALE_AFTER_MS)).toBe('stale');
  expect(sessionState({ ...session, ended_at: 2_000 }, 1_001 + STALE_AFTER_MS)).toBe('ended');
});

test('an update is available exactly if the versions differ, even if the companion is newer [session.heartbeat.update-available]', () => {
  const release = { latest_version: '1.4.0', tarball_sha256: 'a'.repeat(64) };
  expect(companionAnswer(release, '1.4.0').update_available).toBe(false);
  expect(companionAnswer(release, '1.3.9').update_available).toBe(true);
  expect(companionAnswer(release, '2.0.0').update_available).toBe(true);
});
