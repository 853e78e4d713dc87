import { invalidInput } from '../../../kernel/input.ts';
import { counter, has, inside, type UsagePlace } from './place.ts';
import { toSpan, type UsageSpan } from './span.ts';

const INPUT = ['input_tokens', 'prompt_tokens', 'inputTokens'];
const OUTPUT = ['output_tokens', 'completion_tokens', 'outputTokens'];

/**
 * A response or chat completion of the API (`usage`), the event that completes one (`response.usage`), Codex's turn
 * (`usage`) and token count (`info.last_token_usage`), or the counters alone.
 */
export function openai(payload: UsagePlace): UsageSpan[] | undefined {
  const event = payload.value.type === 'event_msg' ? (inside(payload, 'payload') ?? payload) : payload;
  const holder = inside(event, 'response') ?? event;
  const usage = inside(holder, 'usage') ?? tokenCount(event) ?? holder;
  if (!has(usage, ...INPUT, ...OUTPUT)) return undefined;
  return [spanOf(usage, holder.value.model ?? event.value.model ?? payload.value.model)];
}

/** OpenAI counts the cached input in the input, and the reasoning in the output. */
function spanOf(usage: UsagePlace, model: unknown): UsageSpan {
  const input = inside(usage, 'input_tokens_details') ?? inside(usage, 'prompt_tokens_details');
  const output = inside(usage, 'output_tokens_details') ?? inside(usage, 'completion_tokens_details');
  return toSpan({
    path: usage.path,
    model,
    input: counter(usage, ...INPUT),
    cached: counter(usage, 'cached_input_tokens', 'cachedInputTokens') ?? counter(input, 'cached_tokens'),
    creation: counter(input, 'cache_write_tokens'),
    output: counter(usage, ...OUTPUT),
    reasoning: counter(usage, 'reasoning_output_tokens', 'reasoning_tokens', 'reasoningOutputTokens', 'reasoningTokens') ?? counter(output, 'reasoning_tokens'),
    caches: 'inside',
  });
}

/** Codex gives the last turn beside the sum of the session: the sums of a session would count its turns again and again. */
function tokenCount(event: UsagePlace): UsagePlace | undefined {
  const info = inside(event, 'info');
  const last = inside(info, 'last_token_usage');
  if (!last && has(info, 'total_token_usage')) {
    throw invalidInput([{ field: 'payload.info.last_token_usage', message: 'is needed: the totals of a session cannot be added up' }]);
  }
  return last;
}
