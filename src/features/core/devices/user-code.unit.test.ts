import { expect, test } from 'vitest';
import { newUserCode, shownCode, typedCode } from './user-code.ts';

test('codes can be read aloud and typed: every spelling of a code is accepted, and no letter looks like another', () => {
  const code = newUserCode();
  expect(typedCode(` ${shownCode(code).toLowerCase()} `)).toBe(code);
  expect(shownCode(newUserCode(() => 0))).toBe('BBBB-BBBB');
  expect(new Set(Array.from({ length: 200 }, () => newUserCode())).size).toBe(200);
});
