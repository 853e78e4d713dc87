import fc from 'fast-check';
import { countTokens, encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { runs } from '../../../testing/runs.ts';
import { loadTokenizer } from './tokens.ts';

const plain = { disallowedSpecial: new Set<string>() };

test('any text has the same number of tokens as in o200k_base [contextload.budget.estimator]', async () => {
  const tokenizer = await loadTokenizer();
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.lorem({ maxCount: 60 }),
    fc.base64String({ maxLength: 800 }),
    fc.json(),
    fc
      .array(fc.constantFrom('\n', '  ', '漢字', '👩‍👩‍👧', 'é', '<|endoftext|>', "I'LL", '12345', '\\u0000', '}],[{"'), { maxLength: 60 })
      .map((parts) => parts.join('')),
    fc.tuple(fc.constantFrom('a', ' ', '=', '漢', 'ab', '\n'), fc.nat({ max: 400 })).map(([unit, times]) => unit.repeat(times)),
  );
  fc.assert(
    fc.property(text, (given) => {
      expect(tokenizer.count(given)).toBe(countTokens(given, plain));
    }),
    runs(500),
  );
});

test('a special token of the model counts as text, and is no error', async () => {
  const tokenizer = await loadTokenizer();
  expect(tokenizer.count('<|endoftext|>')).toBe(encode('<|endoftext|>', plain).length);
  expect(tokenizer.count('<|endoftext|>')).toBeGreaterThan(1);
});

test('counts an unbroken run of a hundred thousand letters, ideographs or spaces within the test timeout', async () => {
  const tokenizer = await loadTokenizer();
  for (const unit of ['a', '漢', ' ', '=', 'xq']) {
    expect(tokenizer.count(unit.repeat(100_000 / unit.length))).toBeGreaterThan(700);
  }
});

test('the head of a text is its beginning, with at most the given number of tokens and no half character', async () => {
  const tokenizer = await loadTokenizer();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat({ max: 60 }), (text, most) => {
      const head = tokenizer.head(text, most);
      expect(text.startsWith(head)).toBe(true);
      expect(head.isWellFormed()).toBe(true);
      if (tokenizer.count(text) <= most) expect(head).toBe(text);
      else expect(Buffer.byteLength(head)).toBeLessThan(Buffer.byteLength(text));
    }),
  );
});

test('counting stops above the limit', async () => {
  const tokenizer = await loadTokenizer();
  const text = 'word '.repeat(100_000);
  expect(tokenizer.count(text, 10)).toBeGreaterThan(10);
  expect(tokenizer.count(text, 10)).toBeLessThan(100);
});
