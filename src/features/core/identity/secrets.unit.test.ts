import { expect, test } from 'vitest';
import { mintToken, TOKEN_FORMAT } from './secrets.ts';

test('a token is cv_ followed by 32 random bytes in text form [auth.token.format]', () => {
  const tokens = Array.from({ length: 50 }, mintToken);
  for (const token of tokens) {
    expect(token).toMatch(/^cv_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(token.slice(3), 'base64url')).toHaveLength(32);
    expect(TOKEN_FORMAT.test(token)).toBe(true);
  }
  expect(new Set(tokens).size).toBe(50);
});
