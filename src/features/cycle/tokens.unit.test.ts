import { expect, test } from 'vitest';
import { sameSecret } from './tokens.ts';

test('secrets are compared in constant time: both are hashed first, so that the time reveals neither their length nor a common prefix', () => {
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
