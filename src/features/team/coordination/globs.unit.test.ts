import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../testing/runs.ts';
import { matches, overlap, parseGlob } from './globs.ts';

const glob = parseGlob;

test.each([
  ['src/a.ts', 'src/a.ts', true],
  ['src/a.ts', 'src/a.tsx', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/.ts', true],
  ['src/*.ts', 'src/deep/a.ts', false],
  ['src/**/*.ts', 'src/a.ts', true],
  ['src/**/*.ts', 'src/deep/er/a.ts', true],
  ['**', 'anything/at/all', true],
  ['src/**', 'lib/a.ts', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a?c', 'a😀c', true],
  ['app/[id]/page.tsx', 'app/[id]/page.tsx', true],
  ['app/[id]/page.tsx', 'app/i/page.tsx', false],
  ['a**b', 'axxb', true],
  ['a**b', 'a/b', false],
  ['docs/Übersicht?.md', 'docs/U\u0308bersichte\u0301.md', true],
])('the pattern %s and the path %s: %s', (pattern, path, expected) => {
  expect(matches(glob(pattern), path)).toBe(expected);
});

test.each([
  ['src/*.ts', 'src/a*', true],
  ['src/*.ts', 'src/*.md', false],
  ['src/**', '**/test/**', true],
  ['src/**/a.ts', 'src/*/b.ts', false],
  ['*a*', '*b*', true],
  ['a*', 'b*', false],
  ['**/a', 'a/**', true],
  ['?', '??', false],
])('the patterns %s and %s overlap: %s', (a, b, expected) => {
  expect(overlap(glob(a), glob(b))).toBe(expected);
  expect(overlap(glob(b), glob(a))).toBe(expected);
});

const names = ['a', 'b', 'aa', 'ab', 'ba', 'bb'];
/**
 * Enough paths for small patterns: if two patterns of at most three segments, with at most two characters each, overlap, they share one of these
 * paths.
 */
const paths = [1, 2, 3, 4].flatMap((depth) => pathsOf(depth));

function pathsOf(depth: number): string[] {
  return depth === 1 ? names : pathsOf(depth - 1).flatMap((path) => names.map((name) => `${path}/${name}`));
}

const segment = fc.oneof(fc.constant('**'), fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 2 }));
const pattern = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/'));

/** Another implementation to compare with. It converts the pattern to a regular expression. */
function expression(text: string): RegExp {
  const segments = text.split('/').map((part) => (part === '**' ? '(?:[^/]+/)*' : `${part.replace(/\*+/g, '[^/]*').replaceAll('?', '[^/]')}/`));
  return new RegExp(`^${segments.join('')}$`);
}

test('a pattern matches the same paths as an equivalent regular expression', () => {
  fc.assert(
    fc.property(pattern, fc.constantFrom(...paths), (text, path) => matches(glob(text), path) === expression(text).test(`${path}/`)),
    runs(3_000),
  );
});

test('two patterns overlap exactly when some path matches both', () => {
  fc.assert(
    fc.property(pattern, pattern, (a, b) => {
      const [inA, inB] = [expression(a), expression(b)];
      return overlap(glob(a), glob(b)) === paths.some((path) => inA.test(`${path}/`) && inB.test(`${path}/`));
    }),
    runs(2_000),
  );
});

test('no allowed pattern is slow to compare: thousands of pairs of the slowest patterns take a second or two', () => {
  const long = 'a'.repeat(60);
  const hard: [string, string][] = [
    [`**/${'*a'.repeat(4)}/**/${'a/'.repeat(30)}a`, `**/${'a*'.repeat(4)}/**/${'a/'.repeat(30)}b`],
    [`${'a*'.repeat(9)}${long}b*`, `${'a*'.repeat(9)}${long}c*`],
    [`*${'a'.repeat(77)}b*`, 'a'.repeat(255)],
    [`*${'a'.repeat(38)}b*`, `${'a'.repeat(78)}?`],
    [`**/${'a/'.repeat(15)}b/**`, `${'a/'.repeat(38)}c`],
    ['packages/web/src/a.ts', 'packages/api/src/a.ts'],
  ];
  for (const [a, b] of hard) {
    const [one, other] = [glob(a), glob(b)];
    const started = performance.now();
    for (let i = 0; i < 2_000; i++) overlap(one, other);
    expect([a, performance.now() - started < 2_000]).toEqual([a, true]);
  }
});
