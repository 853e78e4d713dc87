import { expect, test } from 'vitest';
import { counted, FORGOTTEN_AFTER_MS, hashToken, mintLockToken, mintSessionToken, sameSecret, waitAfter } from './role-sessions.ts';

const AT = 1_000_000;
const failures = (count: number) => ({ failures: count, last_at: AT });

test('five wrong PSKs cost nothing; then each doubles the wait, up to a minute', () => {
  expect([0, 1, 2, 3, 4].map((count) => waitAfter(failures(count), AT))).toEqual([0, 0, 0, 0, 0]);
  expect([5, 6, 7, 8, 9, 10, 11, 12, 5_000].map((count) => waitAfter(failures(count), AT))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
  ]);
  expect(waitAfter(undefined, AT)).toBe(0);
});

test('the wait runs from the last one, and is over when it is over', () => {
  expect(waitAfter(failures(7), AT + 1)).toBe(3_999);
  expect(waitAfter(failures(7), AT + 3_999)).toBe(1);
  expect(waitAfter(failures(7), AT + 4_000)).toBe(0);
  // Waiting does not undo them: the next one makes it longer.
  expect(counted(failures(7), AT + 4_000)).toBe(7);
});

test('after an hour without one they are forgotten', () => {
  expect(counted(failures(7), AT + FORGOTTEN_AFTER_MS - 1)).toBe(7);
  expect(counted(failures(7), AT + FORGOTTEN_AFTER_MS)).toBe(0);
  expect(counted(undefined, AT)).toBe(0);
});

test('secrets of any two lengths are compared: both sides are hashed first, so that neither length nor beginning can be timed', () => {
  for (const [a, b] of [
    ['', 'x'],
    ['GEMINI_SECRET', 'GEMINI_SECRE'],
    ['GEMINI_SECRET', 'GEMINI_SECRETx'],
    ['short', 'long'.repeat(10_000)],
    ['\u00e9', 'e\u0301'],
  ] as const) {
    // timingSafeEqual itself throws on buffers of two lengths.
    expect(sameSecret(a, b)).toBe(false);
    expect(sameSecret(b, a)).toBe(false);
    expect(sameSecret(a, a)).toBe(true);
    expect(sameSecret(b, b)).toBe(true);
  }
});

test('a lock token is random hexadecimal, a session token has its prefix [lock.token.random-hex] [session.open.token-prefix]', () => {
  const locks = new Set(Array.from({ length: 100 }, mintLockToken));
  expect(locks.size).toBe(100);
  for (const token of locks) expect(token).toMatch(/^[0-9a-f]{48}$/);
  expect(mintSessionToken()).toMatch(/^sess_[0-9a-f]{48}$/);
  expect(hashToken('sess_x')).toMatch(/^[0-9a-f]{64}$/);
});
