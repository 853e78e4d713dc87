import { expect, test } from 'vitest';
import { sameSecret } from './tokens.ts';

test('secrets of different lengths are compared in constant time: both are hashed first, so that neither length nor prefix can be timed', () => {
  for (const [a, b] of [
    ['', 'x'],
    ['GEMINI_SECRET', 'GEMINI_SECRE'],
    ['GEMINI_SECRET', 'GEMINI_SECRETx'],
    ['short', 'long'.repeat(10_000)],
    ['\u00e9', 'e\u0301'],
  ] as const) {
    // timingSafeEqual itself throws on buffers of different lengths.
    expect(sameSecret(a, b)).toBe(false);
    expect(sameSecret(b, a)).toBe(false);
    expect(sameSecret(a, a)).toBe(true);
    expect(sameSecret(b, b)).toBe(true);
  }
});
