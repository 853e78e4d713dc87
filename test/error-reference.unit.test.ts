import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorReference, messagesInSource } from '../scripts/error-reference.ts';
import { ERROR_CODE_GROUPS, ERROR_CODES } from '../src/surfaces/cli/error-codes/index.ts';

const messages = messagesInSource();

test('every error code in the source has one entry in the reference, and no entry is left over [use.docs.error-codes]', () => {
  const entries = Object.values(ERROR_CODE_GROUPS).flatMap((codes) => Object.keys(codes));
  expect(entries.filter((code, at) => entries.indexOf(code) !== at)).toEqual([]);
  const used = new Set(messages.map(({ code }) => code));
  expect([...used].filter((code) => !(code in ERROR_CODES)).sort()).toEqual([]);
  expect(entries.filter((code) => !used.has(code))).toEqual([]);
});

test('an entry has a meaning, a cause and a next step, each in full sentences', () => {
  for (const [code, { meaning, cause, next }] of Object.entries(ERROR_CODES))
    for (const text of [meaning, cause, next]) expect([code, text]).toEqual([code, expect.stringMatching(/^\S.{9,}\.$/)]);
});

test('docs/errors.md is made from the source [use.docs.generated]', () => {
  expect(readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')).toBe(errorReference());
});
