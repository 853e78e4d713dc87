import type { Db } from '../../../storage/engine.ts';
import { findRows } from '../../../storage/rows.ts';
import type { ModelPriceRow } from '../../../storage/schema-rows.ts';
import type { PriceView } from './contract.ts';
import type { UsageSpan } from './span.ts';

/** Dollars per million tokens of each kind. Null means that the price is unknown. Usage that includes such tokens then has no cost. */
export interface ModelPrice {
  readonly input: number;
  readonly cached_input: number | null;
  readonly cache_write: number | null;
  readonly cache_write_1h: number | null;
  readonly output: number;
  /** The prices apply to prompts of at most this many tokens. Longer prompts cost more. */
  readonly prompt_up_to: number | null;
}

/** Stored with each cost, so that a cost can be explained later. It must change whenever one of the figures below changes. */
const BUILTIN_VERSION = 'builtin-2026-08';

/**
 * Anthropic's cache prices, relative to the input price: a read costs a tenth, a write for five minutes 1.25 times, a write for an hour twice as
 * much.
 */
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
 * List prices from the public price table of BerriAI/litellm (commit b0fd3e1, 2026-08-08). The table no longer contains Claude 3.5 Sonnet and 3.5
 * Haiku, so their prices come from Anthropic's price page of 2025. The prices in the table were not compared with the pages of the providers.
 * Some models are left out because their prices look provisional (Claude Sonnet 5, GPT-5.6) or include more than tokens: an unknown cost is better
 * than a wrong one. A workspace can set its own prices with `prices.set`. There are no separate rates for batch, flex and priority requests. The
 * higher rate of Claude Sonnet 4 and 4.5 for prompts over 200,000 tokens applies only if the model name contains `[1m]`.
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
  // The first release of GPT-4o costs more than later ones, and has no price for cached input.
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

export interface PriceList {
  /** All current prices. Those that the workspace has set come first. */
  readonly items: readonly PriceView[];
  priceOf(model: string | null): { price: ModelPrice; version: string } | undefined;
}

export const workspaceVersion = (version: number): string => `workspace-${version}`;

/** Reads the prices of a workspace. A price that the workspace has set replaces the built-in price. */
export async function priceList(db: Db, workspace: string): Promise<PriceList> {
  const own = new Map<string, PriceView>();
  for (const row of await currentPrices(db, workspace)) {
    const view = viewOf(row);
    if (view) own.set(row.model, view);
  }
  const builtin = new Map(
    [...BUILTIN_PRICES].map(([model, price]): [string, PriceView] => [model, { model, ...price, version: BUILTIN_VERSION, set_at: null }]),
  );
  return {
    items: [...own.values(), ...[...builtin.values()].filter(({ model }) => !own.has(model))],
    priceOf(model) {
      if (model === null) return undefined;
      for (const list of [own, builtin]) {
        const found = list.get(bestPattern(list.keys(), model) ?? '');
        if (found) return { price: found, version: found.version };
      }
      return undefined;
    },
  };
}

/** The newest stored row of each model, including the rows that removed a price. */
export async function currentPrices(db: Db, workspace: string): Promise<ModelPriceRow[]> {
  const rows = await findRows(db, 'model_prices', { workspace_id: workspace }, { order: { version: 'asc' } });
  return [...new Map(rows.map((row) => [row.model, row])).values()];
}

/** Undefined if the row has no figures. Such a row removes the price that was set before it. */
function viewOf(row: ModelPriceRow): PriceView | undefined {
  if (row.input === null || row.output === null) return undefined;
  const dollars = (micros: number | null) => (micros === null ? null : micros / 1e6);
  return {
    model: row.model,
    input: row.input / 1e6,
    cached_input: dollars(row.cached_input),
    cache_write: dollars(row.cache_write),
    cache_write_1h: dollars(row.cache_write_1h),
    output: row.output / 1e6,
    prompt_up_to: null,
    version: workspaceVersion(row.version),
    set_at: row.set_at,
  };
}

/** Removes what a platform adds to the name of a model: `anthropic/…`, `us.anthropic.…-v1:0`, `models/…`. */
function bareName(model: string): string {
  const last = model.toLowerCase().split('/').at(-1) ?? '';
  return inOneSpelling(last.replace(/^([a-z-]+\.)?anthropic\./, '').replace(/-v\d+(:\d+)?$/, ''));
}

/** Unifies spellings: routers write `claude-opus-4.5` for `claude-opus-4-5`, and `claude-opus-4-0` is another name for `claude-opus-4`. */
const inOneSpelling = (name: string): string =>
  name.startsWith('claude-') ? name.replace(/(\d)\.(\d)/, '$1-$2').replace(/^(claude-[a-z]+-\d)-0$/, '$1') : name;

/** The ending of a dated release, such as `-20250929`, `@20250929`, `-2025-08-07` or `-latest`. All releases of a model cost the same. */
const RELEASE = /^([-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/;

/** This ending marks the use of the long context. For models whose long context costs the same, it is ignored. */
const LONG_CONTEXT = /\[1m\]$/;
const SAME_PRICE_WHEN_LONG = /^claude-(opus-4-[6-9]|sonnet-4-[6-9]|opus-5)/;

/** Whether a pattern matches a model. A pattern is a model name that may end in `*`. */
export function means(pattern: string, model: string): boolean {
  const name = bareName(model);
  const wanted = inOneSpelling(pattern.toLowerCase());
  if (wanted.endsWith('*')) return name.startsWith(wanted.slice(0, -1));
  const plain = SAME_PRICE_WHEN_LONG.test(name) ? name.replace(LONG_CONTEXT, '') : name;
  return plain === wanted || name === wanted || (plain.startsWith(wanted) && RELEASE.test(plain.slice(wanted.length)));
}

/** Returns the most specific pattern that matches. A name without `*` wins over patterns with `*`; among those, the longest wins. */
export function bestPattern(patterns: Iterable<string>, model: string): string | undefined {
  const rank = (pattern: string) => (pattern.endsWith('*') ? pattern.length : 1_000 + pattern.length);
  return [...patterns].filter((pattern) => means(pattern, model)).sort((one, other) => rank(other) - rank(one))[0];
}

const MILLION = 1_000_000n;

type Counts = Pick<UsageSpan, 'input_tokens' | 'cached_input_tokens' | 'cache_creation_tokens' | 'cache_creation_1h_tokens' | 'output_tokens'>;

export const microDollars = (dollars: number): number => Math.round(dollars * 1e6);

/** The cost in whole micro-dollars. Null if the price of any part is unknown, because a cost must include all parts. */
export function costOf(counts: Counts, price: ModelPrice): number | null {
  const { input_tokens, cached_input_tokens, cache_creation_tokens, cache_creation_1h_tokens, output_tokens } = counts;
  // The span may be the sum of several prompts. Only if the sum is within the limit is it certain that each prompt is.
  const prompt = input_tokens + cached_input_tokens + cache_creation_tokens;
  if (price.prompt_up_to !== null && prompt > price.prompt_up_to) return null;
  const parts: readonly (readonly [number, number | null])[] = [
    [input_tokens, price.input],
    [cached_input_tokens, price.cached_input],
    [cache_creation_tokens - cache_creation_1h_tokens, price.cache_write],
    [cache_creation_1h_tokens, price.cache_write_1h],
    [output_tokens, price.output],
  ];
  let millionths = 0n;
  for (const [tokens, dollars] of parts) {
    if (tokens === 0) continue;
    if (dollars === null) return null;
    millionths += BigInt(tokens) * BigInt(microDollars(dollars));
  }
  return Number((millionths + MILLION / 2n) / MILLION);
}

/** Whether the costs differ by more than one per cent and more than one micro-dollar. A smaller difference comes from rounding. */
export function isMismatch(submitted: number, computed: number): boolean {
  const apart = Math.abs(submitted - computed);
  return apart > 1 && apart * 100 > computed;
}
