import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cycleIdFor, slugOf } from './cycle-id.ts';

const AT = Date.UTC(2026, 1, 20, 21, 56, 22, 987);
const free = () => false;

test.each([
  ['featureX', 'featureX'],
  ['  two  words ', 'two_words'],
  ['a\tb', 'a_b'],
  ['übung & co.', 'bung__co'],
  ['../../etc/passwd', 'etcpasswd'],
  ['a'.repeat(200), 'a'.repeat(80)],
  ['日本', ''],
  ['...', ''],
])('the feature %j becomes %j in an id', (feature, slug) => {
  expect(slugOf(feature)).toBe(slug);
});

test('whatever a feature is called, its id is one valid folder name', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (feature) => /^\d{8}T\d{6}Z_[A-Za-z0-9_-]{0,80}$/.test(cycleIdFor(slugOf(feature), AT, free))));
});
