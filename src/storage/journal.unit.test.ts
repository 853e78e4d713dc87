import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../testing/runs.ts';
import { canonicalJson } from './journal.ts';

test('canonical JSON equals the RFC 8785 reference implementation for any JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    runs(500),
  );
});

test('a lone surrogate becomes the replacement character, so that no name can break the journal', () => {
  expect(canonicalJson({ a: '\ud800' })).toBe('{"a":"\ufffd"}');
});

test('refuses values that JSON cannot represent', () => {
  expect(() => canonicalJson(Number.NaN)).toThrow(TypeError);
  expect(() => canonicalJson({ a: () => 0 })).toThrow(TypeError);
});
