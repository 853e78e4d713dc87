import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brief, cutJson, cutText, MARK } from './cut.ts';
import { loadTokenizer } from './tokens.ts';

const tokens = await loadTokenizer();
const sizeOf = (value: unknown) => tokens.count(JSON.stringify(value));

test('a text that fits is unchanged; a longer one ends with a word and a mark', () => {
  const text = 'Rewrite the invoice importer so that duplicates are found before they are stored, not after.';
  expect(cutText(text, 1_000, tokens)).toBe(text);
  const cut = cutText(text, 16, tokens);
  expect(cut.endsWith(MARK)).toBe(true);
  expect(`${text} `.startsWith(`${cut.slice(0, -MARK.length)} `)).toBe(true);
  expect(cutText(text, 3, tokens)).toBe('');
});

test('every cut fits its room and is the beginning of the original', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 600 }), fc.base64String({ maxLength: 900 }), fc.lorem({ maxCount: 80 }));
  fc.assert(
    fc.property(text, fc.nat(80), (given, room) => {
      const cut = cutText(given, room, tokens);
      if (cut === given) return;
      expect(cut === '' || sizeOf(cut) <= room + 2).toBe(true);
      expect(given.startsWith(cut === '' ? '' : cut.slice(0, -MARK.length))).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
    }),
  );
});

test('a cut object is still an object, with smaller values for the same keys', () => {
  const plan = { approach: 'word '.repeat(400), steps: Array.from({ length: 60 }, (_, at) => `step ${at} of many`), risk: 'low' };
  const cut = cutJson(plan, 120, tokens) as typeof plan;
  expect(cut.risk).toBe('low');
  expect(cut.approach.endsWith(MARK)).toBe(true);
  expect(cut.steps.length).toBeGreaterThan(1);
  expect(plan.steps.slice(0, cut.steps.length - 1)).toEqual(cut.steps.slice(0, -1));
  expect(sizeOf(cut)).toBeLessThanOrEqual(125);
});

test('a cut summary ends at the end of a sentence if one ends in its second half, otherwise at the end of a word', () => {
  const sentence = 'The importer now finds duplicates. ';
  expect(brief(sentence.repeat(30), 400)).toBe(sentence.repeat(11).trim());
  const words = brief('word '.repeat(200), 400);
  expect(words.endsWith('word…')).toBe(true);
  expect(words.length).toBeLessThanOrEqual(400);
  expect(brief('short', 400)).toBe('short');
});
