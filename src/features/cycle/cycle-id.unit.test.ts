import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cycleIdFor, slugOf } from './cycle-id.ts';

const AT = Date.UTC(2026, 1, 20, 21, 56, 22, 987);
const free = () => false;

test('an id is the UTC time to the second, an underscore and the feature [cycle.start.id]', () => {
  expect(cycleIdFor('featureX', AT, free)).toBe('20260220T215622Z_featureX');
});

test.each([
  ['featureX', 'featureX'],
  ['  two  words ', 'two_words'],
  ['a\tb', 'a_b'],
  ['übung & co.', 'bung__co'],
  ['../../etc/passwd', 'etcpasswd'],
  ['a'.repeat(200), 'a'.repeat(80)],
  ['日本', ''],
  ['...', ''],
])('of %j an id has %j', (feature, slug) => {
  expect(slugOf(feature)).toBe(slug);
});

test('of several in one second the later ones are counted', () => {
  const taken = new Set<string>();
  const next = () => {
    const id = cycleIdFor('x', AT, (other) => taken.has(other));
    taken.add(id);
    return id;
  };
  expect([next(), next(), next()]).toEqual(['20260220T215622Z_x', '20260220T215622Z_x-2', '20260220T215622Z_x-3']);
});

test('whatever a feature is called, its id is one name of a folder', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (feature) => /^\d{8}T\d{6}Z_[A-Za-z0-9_-]{0,80}$/.test(cycleIdFor(slugOf(feature), AT, free))));
});
