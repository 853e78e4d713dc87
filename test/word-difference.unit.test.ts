import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordDifference } from '../web/pages/tools/word-difference.ts';

const shown = (before: string, after: string) =>
  wordDifference(before, after)
    .map(({ kind, text }) => (kind === 'same' ? text : kind === 'removed' ? `[-${text}-]` : `{+${text}+}`))
    .join('');

test('compares texts by word, and puts removed words before added ones', () => {
  expect(shown('Returns the text.', 'Returns the text, and sends it elsewhere.')).toBe('Returns the text{+, and sends it elsewhere+}.');
  expect(shown('Reads a file.', 'Writes a file.')).toBe('[-Reads-]{+Writes+} a file.');
  expect(shown('a b c d', 'a x c y')).toBe('a [-b-]{+x+} c [-d-]{+y+}');
  expect(shown('Reads\u200B it.', 'Reads it.')).toBe('Reads[-\u200B-] it.');
  expect(shown('{"type":"string"}', '{"type":"number"}')).toBe('{"type":"[-string-]{+number+}"}');
  expect(shown('same', 'same')).toBe('same');
  expect(shown('', 'new')).toBe('{+new+}');
});

test('reproduces both texts exactly for any input', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '\n', '.', '\u202E', '\uD800', '👩‍💻', 'é', '"'), maxLength: 60 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const pieces = wordDifference(before, after);
      const of = (kind: string) => pieces.filter((piece) => piece.kind === 'same' || piece.kind === kind).map((piece) => piece.text);
      expect(of('removed').join('')).toBe(before);
      expect(of('added').join('')).toBe(after);
      expect(pieces.every((piece, at) => piece.text !== '' && piece.kind !== pieces[at - 1]?.kind)).toBe(true);
    }),
  );
});

test('shows texts with too many differences as replaced', () => {
  // Comparing these texts word by word would take longer than the time limit of the test.
  const [before, after] = ['a ', 'b '].map((word) => Array.from({ length: 50_000 }, (_, at) => `${word}${at} `).join(''));
  const pieces = wordDifference(`same ${before} end`, `same ${after} end`);
  expect(pieces.map(({ kind }) => kind)).toEqual(['same', 'removed', 'added', 'same']);
});
