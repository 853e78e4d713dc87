import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sameHash } from './authenticate.ts';
import { hashSecret } from './secrets.ts';

test('token hashes are compared in constant time [auth.token.constant-time]', () => {
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
