import { counter, dollars, each, has, inside, type UsagePlace } from './place.ts';
import { toSpan, type UsageSpan } from './span.ts';

const INPUT = ['input_tokens', 'inputTokens'];
const OUTPUT = ['output_tokens', 'outputTokens'];
const CURSORS_CACHES = ['cacheReadTokens', 'cacheWriteTokens'];

/**
 * `direct_counts`: counters that a proxy, or the companion from Cursor's own store, took from a structured event; one object
 * or a list. Or Cursor's own event, known by how it calls its caches. Tokens of caches stand beside the input unless
 * `input_includes_cached` is true.
 */
export function direct(payload: UsagePlace): UsageSpan[] | undefined {
  const own = [inside(payload, 'tokenUsage'), inside(payload, 'usage')].find((usage) => has(usage, ...CURSORS_CACHES));
  const one = inside(payload, 'direct_counts') ?? (has(payload, 'direct_counts') ? undefined : own);
  const all = one ? [one] : each(payload, 'direct_counts');
  const counted = all.filter((counts) => has(counts, ...INPUT, ...OUTPUT));
  return counted.length === 0 ? undefined : counted.map((counts) => spanOf(counts, counts.value.model ?? payload.value.model));
}

function spanOf(counts: UsagePlace, model: unknown): UsageSpan {
  return toSpan({
    path: counts.path,
    model,
    input: counter(counts, ...INPUT),
    cached: counter(counts, 'cached_input_tokens', 'cache_read_tokens', 'cacheReadTokens'),
    creation: counter(counts, 'cache_creation_tokens', 'cache_write_tokens', 'cacheWriteTokens'),
    output: counter(counts, ...OUTPUT),
    reasoning: counter(counts, 'reasoning_tokens', 'reasoningTokens'),
    claimed: dollars(counts, 'cost_usd'),
    caches: counts.value.input_includes_cached === true ? 'inside' : 'beside',
  });
}
