import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hashSecret, isToken, mintToken, sameHash } from './authenticate.ts';

test('a token is cv_ followed by 32 random bytes in text form [auth.token.format]', () => {
  const tokens = Array.from({ length: 50 }, mintToken);
  for (const token of tokens) {
    expect(token).toMatch(/^cv_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(token.slice(3), 'base64url')).toHaveLength(32);
    expect(isToken(token)).toBe(true);
  }
  expect(new Set(tokens).size).toBe(50);
});

test('hashes of tokens are compared in constant time [auth.token.constant-time]', () => {
  const [a, b] = [hashSecret('one'), hashSecret('two')];
  const compared = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  onTestFinished(() => {
    compared.mockRestore();
    syncBuiltinESMExports();
  });
  expect(sameHash(a, a)).toBe(true);
  expect(sameHash(a, b)).toBe(false);
  expect(compared).toHaveBeenCalledTimes(2);
  expect(sameHash(a, 'short')).toBe(false);
});
