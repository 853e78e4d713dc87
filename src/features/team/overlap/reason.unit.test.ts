import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryIndex } from './memory-index.ts';
import { reasonFor } from './reason.ts';
import { type Scored, scorePair } from './score.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { analyse, surfaces } from './terms.ts';

const scored = (parts: Partial<Scored>): Scored => ({
  id: 'x',
  score: 1,
  tfidf: 0,
  files: 0,
  embedding: null,
  sharedTerms: [],
  sharedFiles: [],
  lowInformation: false,
  textualEvidence: false,
  ...parts,
});

test('a reason names files and words as they were written', () => {
  const title = 'Retry failed uploads with backoff';
  const mine = { analysed: analyse({ title }), files: ['src/upload/retry.ts'] };
  const theirs = { id: 'b', analysed: analyse({ title: 'Uploads: add backoff when they fail' }), files: ['./src/upload/retry.ts', 'README.md'] };
  const index = new MemoryIndex();
  index.put(theirs);
  const reason = reasonFor(scorePair(mine, theirs, index, DEFAULT_SETTINGS), surfaces(title));
  expect(reason).toBe('same file: src/upload/retry.ts; both about: backoff, uploads, failed');
});

test('the reason of a match by meaning alone names the similar meaning', () => {
  expect(reasonFor(scored({ embedding: 0.8, textualEvidence: true }), new Map())).toBe('similar meaning in other words');
  expect(reasonFor(scored({ embedding: 0.4 }), new Map())).toBe('similar meaning in other words');
});

test('if files match, the reason omits words that are too weak as evidence', () => {
  expect(reasonFor(scored({ files: 1, tfidf: 0.05, sharedFiles: ['a.ts'], sharedTerms: ['fix'] }), new Map())).toBe('same file: a.ts');
});

test('a reason names the first files and counts the others', () => {
  expect(reasonFor(scored({ files: 1, sharedFiles: ['a', 'b', 'c', 'd'] }), new Map())).toBe('same files: a, b and 2 more');
});

test('a reason is never empty and never longer than 200 characters', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 80 });
  fc.assert(
    fc.property(
      fc.array(text),
      fc.array(text),
      fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      fc.boolean(),
      (sharedTerms, sharedFiles, embedding, evident) => {
        const reason = reasonFor(scored({ sharedTerms, sharedFiles, embedding, textualEvidence: evident }), new Map());
        expect(reason.length).toBeGreaterThan(0);
        expect(reason.length).toBeLessThanOrEqual(200);
      },
    ),
  );
});
