import { readPayload, type Source } from '../../../features/team/usage/sources.ts';
import type { UsageSpan } from '../../../features/team/usage/span.ts';
import { hashOf } from '../hash.ts';

type Payload = Readonly<Record<string, unknown>>;

/**
 * Rewrites a payload so that it contains only the counters and model names that the server counts. The
 * server's own reader parses the original, and the new payload is built from the result, so that no other
 * text remains. Throws the server's refusal if the payload is invalid. `place` distinguishes equal payloads.
 */
export function countedOnly(source: Source, payload: Record<string, unknown>, place?: string): Payload {
  const spans = readPayload(source, payload);
  return { id: hashOf(JSON.stringify(place === undefined ? [source, payload] : [source, payload, place])), ...(REWRITTEN[source] ?? direct)(spans) };
}

const sum = (...counts: number[]): number => counts.reduce((total, count) => total + count, 0);
const cost = ({ claimed_usd }: UsageSpan, name: string): Payload => (claimed_usd === null ? {} : { [name]: claimed_usd });

const direct = (spans: readonly UsageSpan[]): Payload => ({
  direct_counts: spans.map((span) => ({
    model: span.model,
    input_tokens: span.input_tokens,
    cached_input_tokens: span.cached_input_tokens,
    cache_creation_tokens: span.cache_creation_tokens,
    output_tokens: span.output_tokens,
    reasoning_tokens: span.reasoning_tokens,
    ...cost(span, 'cost_usd'),
  })),
});

const anthropicUsage = (span: UsageSpan): Payload => ({
  input_tokens: span.input_tokens,
  cache_read_input_tokens: span.cached_input_tokens,
  cache_creation_input_tokens: span.cache_creation_tokens,
  cache_creation: { ephemeral_1h_input_tokens: span.cache_creation_1h_tokens },
  output_tokens: span.output_tokens,
  ...cost(span, 'costUSD'),
});

function anthropic(spans: readonly UsageSpan[]): Payload {
  const [first, ...rest] = spans;
  if (first && rest.length === 0) return { model: first.model, usage: anthropicUsage(first) };
  return { modelUsage: Object.fromEntries(spans.map((span) => [span.model, anthropicUsage(span)])) };
}

/** A payload of this format has exactly one span. */
const openai = ([span]: readonly UsageSpan[]): Payload =>
  span
    ? {
        model: span.model,
        usage: {
          input_tokens: sum(span.input_tokens, span.cached_input_tokens, span.cache_creation_tokens),
          input_tokens_details: { cached_tokens: span.cached_input_tokens, cache_write_tokens: span.cache_creation_tokens },
          output_tokens: span.output_tokens,
          output_tokens_details: { reasoning_tokens: span.reasoning_tokens },
        },
      }
    : {};

const otel = (spans: readonly UsageSpan[]): Payload => ({
  spans: spans.map((span) => ({
    attributes: {
      ...(span.model === null ? {} : { 'gen_ai.response.model': span.model }),
      'gen_ai.usage.input_tokens': sum(span.input_tokens, span.cached_input_tokens, span.cache_creation_tokens),
      'gen_ai.usage.cache_read.input_tokens': span.cached_input_tokens,
      'gen_ai.usage.cache_creation.input_tokens': span.cache_creation_tokens,
      'gen_ai.usage.output_tokens': span.output_tokens,
      'gen_ai.usage.reasoning.output_tokens': span.reasoning_tokens,
      ...cost(span, 'cost_usd'),
    },
  })),
});

/** The functions that write the payload of a source. The reader of that source parses the same counters from it. All other sources use direct counts. */
const REWRITTEN: Partial<Record<Source, (spans: readonly UsageSpan[]) => Payload>> = {
  claude: anthropic,
  'claude-code': anthropic,
  anthropic,
  codex: openai,
  openai,
  otel,
};
