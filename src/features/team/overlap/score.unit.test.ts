import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryIndex } from './memory-index.ts';
import { type Indexed, scorePair } from './score.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { analyse } from './terms.ts';

const item = (id: string, title: string, files: readonly string[] = [], vector?: readonly number[]): Indexed => ({
  id,
  analysed: analyse({ title }),
  files,
  vector: vector && Float32Array.from(vector),
});

function workspace(...items: Indexed[]): MemoryIndex {
  const index = new MemoryIndex();
  for (const one of items) index.put(one);
  return index;
}

const score = (one: Indexed, other: Indexed, index = workspace(other)) => scorePair(one, other, index, DEFAULT_SETTINGS);

describe('words', () => {
  test('equal titles score highest, and unrelated titles score zero', () => {
    const index = workspace(item('b', 'Retry uploads with backoff'), item('c', 'Translate the legal notice'));
    const mine = item('a', 'Retry uploads with backoff');
    expect(score(mine, item('b', 'Retry uploads with backoff'), index).tfidf).toBeCloseTo(1);
    expect(score(mine, item('c', 'Translate the legal notice'), index).score).toBe(0);
  });

  test('a rare word is more informative than a common one, even in a workspace with one task', () => {
    const rare = score(item('a', 'Fix kanban'), item('b', 'Improve kanban'));
    const common = score(item('a', 'Fix tests'), item('b', 'Improve tests'));
    expect(rare.score).toBeGreaterThan(2 * common.score);
    expect(score(item('a', 'Fix kanban tests'), item('b', 'Fix kanban tests')).sharedTerms[0]).toBe('kanban');
  });

  test('two equal short texts score lower than two equal long texts', () => {
    const short = score(item('a', 'Kanban'), item('b', 'Kanban'));
    const long = score(item('a', 'Kanban swimlanes with sticky headers'), item('b', 'Kanban swimlanes with sticky headers'));
    expect(long.tfidf).toBeCloseTo(short.tfidf);
    expect(long.score).toBeGreaterThan(short.score);
  });

  test('two tasks that share only generic words have low information', () => {
    for (const title of [
      'Fix bug',
      'Update tests',
      'Refactor code',
      'Improve error handling',
      'Update documentation',
      'Small fixes',
      'Add tests',
      'Implement feature',
    ]) {
      expect(score(item('a', title), item('b', title)).lowInformation, title).toBe(true);
    }
    expect(score(item('a', 'Fix kanban drag and drop'), item('b', 'Fix kanban drag and drop')).lowInformation).toBe(false);
  });

  test('a word that occurs in most tasks of a workspace is not informative there', () => {
    const others = Array.from({ length: 30 }, (_, at) => item(`o${at}`, `Zeppelin ${String.fromCodePoint(97 + (at % 26))}${at}xyz`));
    const pair = [item('a', 'Zeppelin moorings'), item('b', 'Zeppelin hangars')] as const;
    expect(score(...pair).lowInformation).toBe(false);
    expect(score(...pair, workspace(...others)).lowInformation).toBe(true);
    // In these equal titles, only one word is informative, but the titles still describe the same work.
    expect(score(item('a', 'Zeppelin moorings'), item('b', 'Zeppelin moorings'), workspace(...others)).lowInformation).toBe(false);
  });

  test('titles of a single word have low information, however rare the word is', () => {
    expect(score(item('a', 'Zeppelin'), item('b', 'Zeppelin')).lowInformation).toBe(true);
  });
});

describe('a title prefix that marks a batch', () => {
  const batch = ['[checkout-rework] Rotate keys', '[checkout-rework] Passkeys', '[checkout-rework] Audit trail'].map((title, at) => item(`b${at}`, title));

  test('the words of the prefix do not count from the third item on', () => {
    const mine = item('a', '[checkout-rework] Translate invoices');
    expect(score(mine, batch[0] as Indexed, workspace(...batch)).score).toBe(0);
    expect(score(mine, batch[0] as Indexed, workspace(...batch.slice(0, 2))).score).toBeGreaterThan(0);
  });

  test('a word of the prefix still counts if the task also contains it elsewhere', () => {
    const index = workspace(...batch, item('c', 'Speed up checkout'));
    expect(score(item('a', '[checkout-rework] Speed up checkout'), item('c', 'Speed up checkout'), index).sharedTerms).toContain('checkout');
  });
});

describe('files', () => {
  test('files alone are never textual evidence, whatever they score', () => {
    const found = score(item('a', 'Double jump', ['src/player.cs']), item('b', 'Footstep sounds', ['src/player.cs']));
    expect(found).toMatchObject({ files: 1, tfidf: 0, textualEvidence: false, sharedFiles: ['src/player.cs'] });
    expect(found.score).toBeGreaterThan(DEFAULT_SETTINGS.escalate);
  });

  test('paths are normalised before they are compared; the same base name or folder counts a little', () => {
    expect(score(item('a', 'x', ['./src\\a\\b.ts']), item('b', 'y', ['src/a/b.ts'])).files).toBe(1);
    const base = score(item('a', 'x', ['retry.ts']), item('b', 'y', ['src/upload/retry.ts'])).files;
    const folder = score(item('a', 'x', ['src/upload/a.ts']), item('b', 'y', ['src/upload/b.ts'])).files;
    expect(base).toBeGreaterThan(folder);
    expect(folder).toBeGreaterThan(0);
    expect(base).toBeLessThan(0.5);
  });

  test('one shared file in a long list counts for more than its share of the list', () => {
    const many = Array.from({ length: 9 }, (_, at) => `src/m${at}/f${at}.ts`);
    expect(score(item('a', 'x', ['src/m0/f0.ts']), item('b', 'y', many)).files).toBeGreaterThan(0.5);
  });

  test('a file that many tasks touch weighs less than a rare file', () => {
    const found = (shared: string) => score(item('a', 'x', [shared, 'src/one.ts']), item('b', 'y', [shared, 'src/two.ts'])).files;
    expect(found('lib/package.json')).toBeLessThan(found('lib/upload-queue.ts'));
  });
});

describe('meaning', () => {
  test('a model adds matches and never lowers a score', () => {
    const unlike = score(item('a', 'Retry uploads', [], [1, 0]), item('b', 'Retry uploads', [], [0, 1]));
    expect(unlike.score).toBe(score(item('a', 'Retry uploads'), item('b', 'Retry uploads')).score);
    const alike = score(item('a', 'Session expires early', [], [1, 0]), item('b', 'Kanban swimlanes', [], [1, 0.1]));
    expect(alike).toMatchObject({ tfidf: 0, textualEvidence: true, lowInformation: false });
    expect(alike.score).toBeGreaterThan(DEFAULT_SETTINGS.escalate);
  });

  test('similar vectors of uninformative titles still have low information', () => {
    expect(score(item('a', 'Fix bug', [], [1, 0]), item('b', 'Bug fixing', [], [1, 0])).lowInformation).toBe(true);
  });

  test('vectors of different models, or missing ones, are not compared', () => {
    expect(score(item('a', 'x', [], [1, 0]), item('b', 'y', [], [1, 0, 0])).embedding).toBeNull();
    expect(score(item('a', 'x', [], [0, 0]), item('b', 'y', [], [1, 0])).embedding).toBeNull();
    expect(score(item('a', 'x', []), item('b', 'y', [], [1, 0])).embedding).toBeNull();
  });
});

test('the order of two tasks does not matter', () => {
  const words = fc.array(fc.constantFrom('retry', 'upload', 'fix', 'kanban', 'test', 'фикс', '头像', 'Auth:'), { maxLength: 6 });
  const task = fc.record({ words, files: fc.array(fc.constantFrom('a/b.ts', 'a/c.ts', 'b.ts', 'README.md')) });
  fc.assert(
    fc.property(task, task, (one, other) => {
      const [a, b] = [item('a', one.words.join(' '), one.files, [1, 2]), item('b', other.words.join(' '), other.files, [2, 1])];
      const index = workspace(a, b);
      const [there, back] = [score(a, b, index), score(b, a, index)];
      expect(there.score).toBeCloseTo(back.score, 9);
      expect(there.sharedTerms.toSorted()).toEqual(back.sharedTerms.toSorted());
      expect({ ...there, id: '', score: 0, tfidf: 0, files: 0, embedding: 0, sharedTerms: [], sharedFiles: [] }).toEqual({
        ...back,
        id: '',
        score: 0,
        tfidf: 0,
        files: 0,
        embedding: 0,
        sharedTerms: [],
        sharedFiles: [],
      });
      expect(there.tfidf).toBeLessThanOrEqual(1);
      expect(there.files).toBeLessThanOrEqual(1);
    }),
  );
});
