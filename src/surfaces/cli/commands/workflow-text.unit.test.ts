import { expect, test } from 'vitest';
import { harmless } from './workflow-text.ts';

test('what agents wrote cannot steer a terminal, nor turn round what is read on it', () => {
  expect(harmless('a\u001b[2J\rb\u009b31m\u0007c')).toBe('a\uFFFD[2J\uFFFDb\uFFFD31m\uFFFDc');
  expect(harmless('pay \u202Egnp.exe\u2066')).toBe('pay \uFFFDgnp.exe\uFFFD');
  expect(harmless('one\n\ttwo é 日本')).toBe('one\n\ttwo é 日本');
});
