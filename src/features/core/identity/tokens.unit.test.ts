import { expect, test } from 'vitest';
import { defaultLabel } from './tokens.ts';

test('a label gets the first free number', () => {
  expect(defaultLabel('codex', [])).toBe('codex 1');
  expect(defaultLabel('codex', ['codex 1', 'codex 3'])).toBe('codex 2');
});
