/** Dollars for a million tokens of each kind. Null: not known, and then nothing that has such tokens gets a cost. */
export interface ModelPrice {
  readonly input: number;
  readonly cached_input: number | null;
  readonly cache_write: number | null;
  readonly cache_write_1h: number | null;
  readonly output: number;
  /** The price holds for prompts of at most so many tokens; longer ones cost more. */
  readonly prompt_up_to: number | null;
}

/** Changes whenever a figure below does: a stored cost says by which prices it was made. */
export const BUILTIN_VERSION = 'builtin-2026-08';

/** Anthropic prices reading a cache at a tenth of the input, writing it for five minutes at five quarters, for an hour at twice. */
const anthropic = (input: number, output: number): ModelPrice => ({
  input,
  cached_input: rounded(input / 10),
  cache_write: rounded(input * 1.25),
  cache_write_1h: rounded(input * 2),
  output,
  prompt_up_to: null,
});
const other = (input: number, cached_input: number, output: number, prompt_up_to: number | null = null): ModelPrice => ({
  input,
  cached_input,
  cache_write: null,
  cache_write_1h: null,
  output,
  prompt_up_to,
});
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/**
 * List prices as they stand in the public price table of BerriAI/litellm (commit b0fd3e1, 2026-08-08); Claude 3.5 Sonnet and
 * 3.5 Haiku, which it no longer has, from Anthropic's price page of 2025. They were not compared with each maker's own page.
 * Left out are models whose figures look provisional (Claude Sonnet 5, GPT-5.6) or are not a price for tokens alone: an
 * unknown cost is better than a wrong one, and a workspace sets its own with `prices.set`. Not told apart: batch, flex and
 * priority rates, and the higher rate of Claude Sonnet 4 and 4.5 for prompts over 200,000 tokens unless `[1m]` is in the name.
 */
export const BUILTIN_PRICES: ReadonlyMap<string, ModelPrice> = new Map([
  ['claude-opus-5', anthropic(5, 25)],
  ['claude-opus-4-8', anthropic(5, 25)],
  ['claude-opus-4-7', anthropic(5, 25)],
  ['claude-opus-4-6', anthropic(5, 25)],
  ['claude-opus-4-5', anthropic(5, 25)],
  ['claude-opus-4-1', anthropic(15, 75)],
  ['claude-opus-4', anthropic(15, 75)],
  ['claude-sonnet-4-6', anthropic(3, 15)],
  ['claude-sonnet-4-5', anthropic(3, 15)],
  ['claude-sonnet-4', anthropic(3, 15)],
  ['claude-3-7-sonnet', anthropic(3, 15)],
  ['claude-3-5-sonnet', anthropic(3, 15)],
  ['claude-haiku-4-5', anthropic(1, 5)],
  ['claude-3-5-haiku', anthropic(0.8, 4)],
  ['gpt-5.5', other(5, 0.5, 30, 272_000)],
  ['gpt-5.4', other(2.5, 0.25, 15, 272_000)],
  ['gpt-5.4-mini', other(0.75, 0.075, 4.5)],
  ['gpt-5.4-nano', other(0.2, 0.02, 1.25)],
  ['gpt-5.3-codex', other(1.75, 0.175, 14)],
  ['gpt-5.2', other(1.75, 0.175, 14)],
  ['gpt-5.2-codex', other(1.75, 0.175, 14)],
  ['gpt-5.1', other(1.25, 0.125, 10)],
  ['gpt-5.1-codex', other(1.25, 0.125, 10)],
  ['gpt-5.1-codex-max', other(1.25, 0.125, 10)],
  ['gpt-5.1-codex-mini', other(0.25, 0.025, 2)],
  ['gpt-5', other(1.25, 0.125, 10)],
  ['gpt-5-codex', other(1.25, 0.125, 10)],
  ['gpt-5-mini', other(0.25, 0.025, 2)],
  ['gpt-5-nano', other(0.05, 0.005, 0.4)],
  ['codex-mini', other(1.5, 0.375, 6)],
  ['gpt-4.1', other(2, 0.5, 8)],
  ['gpt-4.1-mini', other(0.4, 0.1, 1.6)],
  ['gpt-4.1-nano', other(0.1, 0.025, 0.4)],
  ['gpt-4o', other(2.5, 1.25, 10)],
  // Its first release never became cheaper, and has no price for cached input.
  ['gpt-4o-2024-05-13', { ...other(5, 0, 15), cached_input: null }],
  ['gpt-4o-mini', other(0.15, 0.075, 0.6)],
  ['o3', other(2, 0.5, 8)],
  ['o4-mini', other(1.1, 0.275, 4.4)],
  ['gemini-3.1-pro-preview', other(2, 0.2, 12, 200_000)],
  ['gemini-3-flash-preview', other(0.5, 0.05, 3)],
  ['gemini-2.5-pro', other(1.25, 0.125, 10, 200_000)],
  ['gemini-2.5-flash', other(0.3, 0.03, 2.5)],
  ['gemini-2.5-flash-lite', other(0.1, 0.01, 0.4)],
]);
