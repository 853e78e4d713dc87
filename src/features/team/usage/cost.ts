import type { ModelPrice } from './prices.ts';
import type { UsageSpan } from './span.ts';

const MILLION = 1_000_000n;

type Counts = Pick<UsageSpan, 'input_tokens' | 'cached_input_tokens' | 'cache_creation_tokens' | 'cache_creation_1h_tokens' | 'output_tokens'>;

export const microDollars = (dollars: number): number => Math.round(dollars * 1e6);

/** In whole micro-dollars. Null where a part of it has no known price: never a cost that leaves something out. */
export function costOf(counts: Counts, price: ModelPrice): number | null {
  const { input_tokens, cached_input_tokens, cache_creation_tokens, cache_creation_1h_tokens, output_tokens } = counts;
  // The span may sum up several prompts: only a sum within the bound says that each of them was.
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

/** More than one per cent and more than one micro-dollar apart: less is rounding. */
export function isMismatch(submitted: number, computed: number): boolean {
  const apart = Math.abs(submitted - computed);
  return apart > 1 && apart * 100 > computed;
}
