import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../testing/runs.ts';
import { MemoryIndex } from './memory-index.ts';
import { type Indexed, pathKeys, type Query, scorePair } from './score.ts';
import { DEFAULT_SETTINGS, type OverlapSettings } from './settings.ts';
import { analyse } from './terms.ts';

const WORDS = ['retry', 'upload', 'fix', 'bug', 'kanban', 'card', 'test', 'token', 'sign', 'утечка', '头像上传', 'UserService', 'user_name'];
const PREFIXES = ['', '', '[rework] ', 'feat(api): ', 'Phase 2 - '];
const FILES = ['src/a/b.ts', 'src/a/c.ts', 'b.ts', 'README.md', './src/a/b.ts', '*/b.ts', '/', ''];

const query: fc.Arbitrary<Query> = fc
  .record({
    prefix: fc.constantFrom(...PREFIXES),
    words: fc.array(fc.constantFrom(...WORDS), { maxLength: 7 }),
    noise: fc.string({ unit: 'binary', maxLength: 12 }),
    files: fc.array(fc.constantFrom(...FILES), { maxLength: 4 }),
    vector: fc.option(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 5 }), { nil: undefined }),
  })
  .map(({ prefix, words, noise, files, vector }) => ({
    analysed: analyse({ title: `${prefix}${words.join(' ')}`, description: noise }),
    files,
    vector: vector && Float32Array.from(vector),
  }));
const items = fc.array(query, { maxLength: 25 }).map((all) => all.map((one, at): Indexed => ({ ...one, id: `t${at % 19}` })));
const settings: fc.Arbitrary<OverlapSettings> = fc.constantFrom(
  DEFAULT_SETTINGS,
  { ...DEFAULT_SETTINGS, background: 10, batchPrefix: 2 },
  { ...DEFAULT_SETTINGS, paths: { base: 0, directory: 0.5 }, shortText: 0 },
);

const filled = (all: readonly Indexed[]): MemoryIndex => {
  const index = new MemoryIndex();
  for (const one of all) index.put(one);
  return index;
};

test('a search finds the same items as scoring every item, with the same scores', () => {
  fc.assert(
    fc.property(items, query, settings, fc.integer({ min: 1, max: 30 }), fc.constantFrom(0, 0.3, 1.4), (all, mine, chosen, limit, atLeast) => {
      const index = filled(all);
      const live = new Map(all.map((one) => [one.id, one]));
      const expected = [...live.values()]
        .map((one) => scorePair(mine, one, index, chosen))
        .filter(({ score }) => score > 0 && score >= atLeast)
        .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
        .slice(0, limit);
      expect(index.search(mine, chosen, { limit, atLeast })).toEqual(expected);
    }),
    runs(400),
  );
});

test('removed or replaced items leave no trace', () => {
  fc.assert(
    fc.property(items, items, query, (first, second, mine) => {
      const index = filled([...first, ...second]);
      for (const { id } of [...first, ...second]) index.delete(id);
      expect(index.documents).toBe(0);
      expect(index.search(mine, DEFAULT_SETTINGS, { limit: 5 })).toEqual([]);
      for (const one of second) index.put(one);
      const fresh = filled(second);
      expect(index.search(mine, DEFAULT_SETTINGS, { limit: 30 })).toEqual(fresh.search(mine, DEFAULT_SETTINGS, { limit: 30 }));
      for (const { analysed, files } of [...first, ...second]) {
        for (const term of analysed.terms) expect(index.frequency(term)).toBe(fresh.frequency(term));
        for (const { key } of files.flatMap((file) => pathKeys(file))) expect(index.fileFrequency(key)).toBe(fresh.fileFrequency(key));
        if (analysed.prefix !== null) expect(index.prefixFrequency(analysed.prefix)).toBe(fresh.prefixFrequency(analysed.prefix));
      }
    }),
  );
});

test('a repeated search returns the same result, even after a search with other settings', () => {
  fc.assert(
    fc.property(items, query, query, (all, mine, other) => {
      const index = filled(all);
      const before = index.search(mine, DEFAULT_SETTINGS, { limit: 10 });
      index.search(other, { ...DEFAULT_SETTINGS, background: 3 }, { limit: 2 });
      expect(index.search(mine, DEFAULT_SETTINGS, { limit: 10 })).toEqual(before);
    }),
  );
});

test('rejected items are not returned and do not count towards the limit', () => {
  const index = filled(['a', 'b', 'c', 'd'].map((id) => ({ id, analysed: analyse({ title: `kanban swimlanes ${id}` }), files: [] })));
  const mine = { analysed: analyse({ title: 'kanban swimlanes' }), files: [] };
  expect(index.search(mine, DEFAULT_SETTINGS, { limit: 1, accept: (id) => id > 'b' }).map(({ id }) => id)).toEqual(['c']);
});

test('an index grows beyond its first size and keeps every item findable', () => {
  const index = filled(
    Array.from({ length: 3_000 }, (_, at) => ({ id: `t${at}`, analysed: analyse({ title: `word${at} kanban` }), files: [`src/f${at}.ts`] })),
  );
  expect(index.documents).toBe(3_000);
  expect(index.search({ analysed: analyse({ title: 'word2718' }), files: [] }, DEFAULT_SETTINGS, { limit: 3 }).map(({ id }) => id)).toEqual(['t2718']);
});
