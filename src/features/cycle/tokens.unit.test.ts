import { expect, test } from 'vitest';
import { hashToken, mintLockToken, mintSessionToken, sameSecret } from './tokens.ts';

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
