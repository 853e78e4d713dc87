import { counter, has, inside, type UsagePlace } from './place.ts';
import { toSpan, type UsageSpan } from './span.ts';

/** A response of the Gemini API. It counts the cached input in the prompt, and thoughts beside the candidates. */
export function gemini(payload: UsagePlace): UsageSpan[] | undefined {
  const holder = inside(payload, 'response') ?? payload;
  const usage = inside(holder, 'usageMetadata');
  if (!usage || !has(usage, 'promptTokenCount', 'candidatesTokenCount')) return undefined;
  const prompt = counter(usage, 'promptTokenCount') ?? 0;
  const span = toSpan({
    path: usage.path,
    model: holder.value.modelVersion ?? payload.value.model,
    provider: 'google',
    input: prompt + (counter(usage, 'toolUsePromptTokenCount') ?? 0),
    cached: counter(usage, 'cachedContentTokenCount'),
    output: counter(usage, 'candidatesTokenCount'),
    reasoning: counter(usage, 'thoughtsTokenCount'),
    caches: 'inside',
    thoughts: 'beside',
  });
  return [span];
}
