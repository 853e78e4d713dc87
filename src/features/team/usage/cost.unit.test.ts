import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BUILTIN_PRICES, bestPattern, costOf, isMismatch, type ModelPrice, means, microDollars } from './prices.ts';

const none = { input_tokens: 0, cached_input_tokens: 0, cache_creation_tokens: 0, cache_creation_1h_tokens: 0, output_tokens: 0 };
const price = (name: string): ModelPrice => BUILTIN_PRICES.get(name) as ModelPrice;

test('each kind of token has its own price, in whole micro-dollars', () => {
  const opus = price('claude-opus-4-5');
  expect(costOf({ ...none, input_tokens: 1_000_000 }, opus)).toBe(5_000_000);
  expect(costOf({ ...none, cached_input_tokens: 1_000_000 }, opus)).toBe(500_000);
  expect(costOf({ ...none, cache_creation_tokens: 1_000_000 }, opus)).toBe(6_250_000);
  expect(costOf({ ...none, cache_creation_tokens: 1_000_000, cache_creation_1h_tokens: 1_000_000 }, opus)).toBe(10_000_000);
  expect(costOf({ ...none, output_tokens: 1_000_000 }, opus)).toBe(25_000_000);
  expect(costOf({ ...none, input_tokens: 1, output_tokens: 3 }, price('gpt-5'))).toBe(31);
});

test('a cost is unknown if a part has no price or the prompt is above the limit of the price', () => {
  expect(costOf({ ...none, input_tokens: 10, cache_creation_tokens: 1 }, price('gpt-5'))).toBeNull();
  expect(costOf({ ...none, input_tokens: 200_000 }, price('gemini-2.5-pro'))).not.toBeNull();
  expect(costOf({ ...none, input_tokens: 199_999, cached_input_tokens: 2 }, price('gemini-2.5-pro'))).toBeNull();
});

test('costs are exact and additive up to rounding, however large the counters', () => {
  const tokens = fc.integer({ min: 0, max: 1e10 });
  fc.assert(
    fc.property(tokens, tokens, (input_tokens, output_tokens) => {
      const sonnet = price('claude-sonnet-4-5');
      expect(costOf({ ...none, input_tokens, output_tokens }, sonnet)).toBe(Number(BigInt(input_tokens) * 3n + BigInt(output_tokens) * 15n));
    }),
  );
});

test('a submitted cost is a mismatch if it differs by more than one per cent and one micro-dollar', () => {
  expect(isMismatch(100, 100)).toBe(false);
  expect(isMismatch(1, 0)).toBe(false);
  expect(isMismatch(2, 0)).toBe(true);
  expect(isMismatch(11, 10)).toBe(false);
  expect(isMismatch(12, 10)).toBe(true);
  expect(isMismatch(1_010_000, 1_000_000)).toBe(false);
  expect(isMismatch(1_010_001, 1_000_000)).toBe(true);
  expect(isMismatch(989_999, 1_000_000)).toBe(true);
  expect(microDollars(0.1 + 0.2)).toBe(300_000);
});

test.each([
  ['claude-opus-4-5', 'claude-opus-4-5-20251101', true],
  ['claude-opus-4-5', 'us.anthropic.claude-opus-4-5-20251101-v1:0', true],
  ['claude-opus-4-5', 'anthropic/claude-opus-4-5', true],
  ['claude-opus-4-5', 'claude-opus-4-5@20251101', true],
  ['claude-opus-4', 'claude-opus-4-5', false],
  ['claude-opus-4', 'claude-opus-4-20250514', true],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929[1m]', false],
  ['claude-opus-4-6', 'claude-opus-4-6[1m]', true],
  ['claude-opus-4-5', 'us-gov.anthropic.claude-opus-4-5-20251101-v1:0', true],
  ['claude-opus-4-5', 'anthropic/claude-opus-4.5', true],
  ['claude-3-5-sonnet', 'anthropic/claude-3.5-sonnet', true],
  ['claude-opus-4', 'claude-opus-4-0', true],
  ['claude-opus-4', 'claude-opus-4.1', false],
  ['claude-opus-4.5', 'claude-opus-4-5-20251101', true],
  ['claude-opus-4.*', 'claude-opus-4.5', false],
  ['claude-opus-4*', 'claude-opus-4.5', true],
  ['gpt-5', 'gpt-5-2025-08-07', true],
  ['gpt-5', 'gpt-5-mini', false],
  ['gpt-5', 'openai/GPT-5', true],
  ['codex-mini', 'codex-mini-latest', true],
  ['gpt-*', 'gpt-9-ultra', true],
  ['gpt-*', 'claude-gpt-', false],
])('the price of %s for %s: %s', (pattern, model, expected) => expect(means(pattern, model)).toBe(expected));

test('of several patterns, the most specific one is used', () => {
  expect(bestPattern(['gpt-*', 'gpt-5-*', 'gpt-5-mini'], 'gpt-5-mini-2025-08-07')).toBe('gpt-5-mini');
  expect(bestPattern(['gpt-*', 'gpt-5-*'], 'gpt-5-mini')).toBe('gpt-5-*');
  expect(bestPattern(['gpt-*'], 'o3')).toBeUndefined();
});

test('a release with its own price does not get the price of its model', () => {
  expect(bestPattern(BUILTIN_PRICES.keys(), 'gpt-4o-2024-05-13')).toBe('gpt-4o-2024-05-13');
  expect(bestPattern(BUILTIN_PRICES.keys(), 'gpt-4o-2024-08-06')).toBe('gpt-4o');
});

test('no built-in price applies to another model of the list, and none is free', () => {
  for (const [name, { input, output }] of BUILTIN_PRICES) {
    expect(bestPattern(BUILTIN_PRICES.keys(), name)).toBe(name);
    expect(Math.min(input, output)).toBeGreaterThan(0);
  }
});
