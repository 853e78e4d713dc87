import { expect, test } from 'vitest';
import { printable, printableLine } from './printable.ts';

const HOSTILE = 'a\u001b]0;x\u0007\u009b2J\r\u202Eb\u200b\u2066c\ufeff\u2028\u{E0041}\u007f é 日本';

test('escapes control and format characters and keeps everything else', () => {
  expect(printable(HOSTILE)).toBe('a\\u001b]0;x\\u0007\\u009b2J\\u000d\\u202eb\\u200b\\u2066c\\ufeff\\u2028\\udb40\\udc41\\u007f é 日本');
  expect(printable('one\n\ttwo')).toBe('one\n\ttwo');
  expect(printableLine('one\n\ttwo')).toBe('one\\u000a\\u0009two');
});

test('escaped JSON keeps its meaning', () => {
  const text = JSON.stringify({ text: HOSTILE });
  expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(printable(text))).toEqual({ text: HOSTILE });
});
