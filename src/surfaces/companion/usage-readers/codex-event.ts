import { nameOfModel } from '../../../features/team/usage/span.ts';
import { recordOf } from '../../../wire/json.ts';
import { hashOf } from '../hash.ts';
import { countOf, isCounted, type UsageEvent } from './usage-batch.ts';

/**
 * Makes a usage event from Codex's counters. Accepts Codex's own field names and those of
 * the OpenAI API. Returns undefined unless input and output tokens are counted separately.
 */
export function codexEvent(key: string, model: unknown, counters: unknown): UsageEvent | undefined {
  const usage = recordOf(counters);
  const [input, output] = [countOf(usage?.input_tokens), countOf(usage?.output_tokens)];
  if (!usage || input === undefined || output === undefined) return undefined;
  const ofInput = recordOf(usage.input_tokens_details);
  const ofOutput = recordOf(usage.output_tokens_details);
  const id = hashOf(`codex ${key}`);
  const payload = {
    id,
    model: nameOfModel(model),
    usage: {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: countOf(usage.cached_input_tokens ?? ofInput?.cached_tokens) ?? 0,
        cache_write_tokens: countOf(usage.cache_write_input_tokens ?? ofInput?.cache_write_tokens) ?? 0,
      },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: countOf(usage.reasoning_output_tokens ?? ofOutput?.reasoning_tokens) ?? 0 },
    },
  };
  return isCounted('codex', payload) ? { id, agent: 'codex', source: 'codex', payload } : undefined;
}
