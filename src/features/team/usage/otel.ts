import { otelMetrics } from './otel-metrics.ts';
import { attributeCounter, attributesOf, numbered } from './otlp.ts';
import { dollars, each, has, type UsagePlace } from './place.ts';
import { toSpan, type UsageSpan } from './span.ts';

/** The names under which one kind of instrumentation writes its counters. */
interface Vocabulary {
  readonly model: readonly string[];
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly cached: readonly string[];
  readonly creation: readonly string[];
  readonly reasoning: readonly string[];
  /** Counters that tell this vocabulary from another with the same names for the rest. */
  readonly marks?: readonly string[];
  /** Parts of the prompt that are counted beside it. */
  readonly moreInput?: readonly string[];
  readonly thoughts?: 'beside';
  readonly caches: 'inside' | 'beside' | 'as they fit';
}

const VOCABULARIES: readonly Vocabulary[] = [
  {
    // The conventions for generative AI, today's names first, then the older ones and those of OpenInference and OpenLLMetry.
    model: ['gen_ai.response.model', 'gen_ai.request.model', 'llm.response.model', 'llm.request.model', 'llm.model_name'],
    input: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.usage.prompt_tokens', 'llm.token_count.prompt'],
    output: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.usage.completion_tokens', 'llm.token_count.completion'],
    cached: [
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'gen_ai.usage.input_tokens.cached',
      'llm.usage.cache_read_input_tokens',
      'llm.token_count.prompt_details.cache_read',
    ],
    creation: [
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'gen_ai.usage.input_tokens.cache_write',
      'llm.usage.cache_creation_input_tokens',
      'llm.token_count.prompt_details.cache_write',
    ],
    reasoning: [
      'gen_ai.usage.reasoning.output_tokens',
      'gen_ai.usage.reasoning_tokens',
      'llm.usage.reasoning_tokens',
      'llm.token_count.completion_details.reasoning',
    ],
    // The conventions count them in the input; not every instrumentation does, and then they may be more than it.
    caches: 'as they fit',
  },
  {
    // The log events of Gemini CLI, which calls the counters that all have as Codex does.
    model: ['model'],
    input: ['input_token_count'],
    output: ['output_token_count'],
    cached: ['cached_content_token_count'],
    creation: [],
    reasoning: ['thoughts_token_count'],
    marks: ['cached_content_token_count', 'thoughts_token_count', 'tool_token_count'],
    moreInput: ['tool_token_count'],
    thoughts: 'beside',
    caches: 'inside',
  },
  {
    // Codex's log events.
    model: ['model'],
    input: ['input_token_count'],
    output: ['output_token_count'],
    cached: ['cached_token_count'],
    creation: [],
    reasoning: ['reasoning_token_count'],
    caches: 'inside',
  },
  {
    // Claude Code's log events, and its spans, which call the model as the conventions do.
    model: ['model', 'gen_ai.response.model', 'gen_ai.request.model'],
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: ['cache_read_tokens'],
    creation: ['cache_creation_tokens'],
    reasoning: [],
    caches: 'beside',
  },
];

/** OTLP as JSON: spans, log records or metrics; or one span with plain attributes. */
export function otel(payload: UsagePlace): UsageSpan[] | undefined {
  const spans = each(payload, 'resourceSpans').flatMap((resource) => each(resource, 'scopeSpans').flatMap((scope) => each(scope, 'spans')));
  const logs = each(payload, 'resourceLogs').flatMap((resource) => each(resource, 'scopeLogs').flatMap((scope) => each(scope, 'logRecords')));
  const single = payload.value.attributes === undefined ? [] : [payload];
  const counted = [...withoutAncestors(numbered([...spans, ...each(payload, 'spans')], 'spans')), ...numbered(logs, 'logRecords'), ...single].flatMap(
    (record) => spanOf(attributesOf(record)) ?? [],
  );
  const found = [...counted, ...otelMetrics(payload)];
  return found.length === 0 ? undefined : found;
}

function spanOf(attributes: UsagePlace): UsageSpan | undefined {
  for (const names of VOCABULARIES) {
    const input = attributeCounter(attributes, names.input);
    const output = attributeCounter(attributes, names.output);
    if (input === undefined && output === undefined) continue;
    if (names.marks && !has(attributes, ...names.marks)) continue;
    const cached = attributeCounter(attributes, names.cached);
    const creation = attributeCounter(attributes, names.creation);
    const fit = (cached ?? 0) + (creation ?? 0) <= (input ?? 0) ? 'inside' : 'beside';
    return toSpan({
      path: attributes.path,
      model: names.model.map((name) => attributes.value[name]).find((model) => model !== undefined),
      input: (input ?? 0) + (attributeCounter(attributes, names.moreInput ?? []) ?? 0),
      output,
      cached,
      creation,
      reasoning: attributeCounter(attributes, names.reasoning),
      claimed: claimedBy(attributes),
      caches: names.caches === 'as they fit' ? fit : names.caches,
      ...(names.thoughts && { thoughts: names.thoughts }),
    });
  }
  return undefined;
}

/** Claude Code writes its numbers as text, where anything else may stand too. */
function claimedBy(attributes: UsagePlace): number | undefined {
  const { cost_usd } = attributes.value;
  const value = typeof cost_usd === 'string' && /^\d{1,7}(\.\d{1,20})?$/.test(cost_usd) ? Number(cost_usd) : cost_usd;
  return typeof value === 'number' ? dollars({ ...attributes, value: { cost_usd: value } }, 'cost_usd') : undefined;
}

/** A span of an agent repeats the counters of the calls inside it: only the innermost ones count. */
function withoutAncestors(spans: readonly UsagePlace[]): UsagePlace[] {
  const parents = new Map(spans.map(({ value }) => [value.spanId, value.parentSpanId]));
  const counted = spans.filter((span) => spanOf(attributesOf(span)) !== undefined);
  const above = new Set<unknown>();
  for (const { value } of counted) {
    for (let parent = value.parentSpanId; parent && !above.has(parent); parent = parents.get(parent)) above.add(parent);
  }
  return counted.filter(({ value }) => !value.spanId || !above.has(value.spanId));
}
