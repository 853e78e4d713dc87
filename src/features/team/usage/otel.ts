import { isRecord } from '../../../kernel/registry.ts';
import { invalidInput } from '../../../kernel/reply.ts';
import { dollars, each, has, inside, type UsagePlace, wholeNumber } from './payload-reader.ts';
import { toSpan, type UsageSpan } from './span.ts';

/** The attribute names that one kind of instrumentation uses for its counters. */
interface Vocabulary {
  readonly model: readonly string[];
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly cached: readonly string[];
  readonly creation: readonly string[];
  readonly reasoning: readonly string[];
  /** At least one of these counters must be present. They distinguish this vocabulary from another one whose other names are the same. */
  readonly marks?: readonly string[];
  /** Counters of prompt tokens that are not included in the input counter. */
  readonly moreInput?: readonly string[];
  readonly thoughts?: 'beside';
  readonly caches: 'inside' | 'beside' | 'as they fit';
}

const VOCABULARIES: readonly Vocabulary[] = [
  {
    // OpenTelemetry's conventions for generative AI. Current names come first, then older names and those of OpenInference and OpenLLMetry.
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
    // By the conventions, the input includes cached tokens, but some instrumentations leave them out. Their cached tokens may exceed the input.
    caches: 'as they fit',
  },
  {
    // Log events of Gemini CLI, which uses Codex's names for the common counters.
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
    // Log events of Codex.
    model: ['model'],
    input: ['input_token_count'],
    output: ['output_token_count'],
    cached: ['cached_token_count'],
    creation: [],
    reasoning: ['reasoning_token_count'],
    caches: 'inside',
  },
  {
    // Log events and spans of Claude Code. The spans use the conventional attribute for the model.
    model: ['model', 'gen_ai.response.model', 'gen_ai.request.model'],
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: ['cache_read_tokens'],
    creation: ['cache_creation_tokens'],
    reasoning: [],
    caches: 'beside',
  },
];

/** Reads OTLP JSON with spans, log records or metrics, or a single span with plain attributes. */
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

/** Reads the reported cost. Claude Code writes numbers as text, so the text is first checked to be a number. */
function claimedBy(attributes: UsagePlace): number | undefined {
  const { cost_usd } = attributes.value;
  const value = typeof cost_usd === 'string' && /^\d{1,7}(\.\d{1,20})?$/.test(cost_usd) ? Number(cost_usd) : cost_usd;
  return typeof value === 'number' ? dollars({ ...attributes, value: { cost_usd: value } }, 'cost_usd') : undefined;
}

/**
 * Removes spans that contain other counted spans. The span of an agent repeats the counters of the calls inside it, so only the innermost spans
 * count.
 */
function withoutAncestors(spans: readonly UsagePlace[]): UsagePlace[] {
  const parents = new Map(spans.map(({ value }) => [value.spanId, value.parentSpanId]));
  const counted = spans.filter((span) => spanOf(attributesOf(span)) !== undefined);
  const above = new Set<unknown>();
  for (const { value } of counted) {
    for (let parent = value.parentSpanId; parent && !above.has(parent); parent = parents.get(parent)) above.add(parent);
  }
  return counted.filter(({ value }) => !value.spanId || !above.has(value.spanId));
}

type Part = 'input' | 'output' | 'cached' | 'creation';

/** Maps the values of the attribute for the kind of tokens to the counters. */
const PARTS: ReadonlyMap<unknown, Part> = new Map([
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cached'],
  ['cacheCreation', 'creation'],
]);

const METRICS: ReadonlyMap<unknown, { kind: string; model: readonly string[] }> = new Map([
  ['gen_ai.client.token.usage', { kind: 'gen_ai.token.type', model: ['gen_ai.response.model', 'gen_ai.request.model'] }],
  ['claude_code.token.usage', { kind: 'type', model: ['model'] }],
]);

/** The two forms in which OTLP marks a sum as cumulative. */
const CUMULATIVE = [2, 'AGGREGATION_TEMPORALITY_CUMULATIVE'];

/** Reads the counters from metrics, as one span for each model. */
function otelMetrics(payload: UsagePlace): UsageSpan[] {
  const metrics = each(payload, 'resourceMetrics').flatMap((resource) => each(resource, 'scopeMetrics').flatMap((scope) => each(scope, 'metrics')));
  const sums = new Map<unknown, { path: string } & Partial<Record<Part, number>>>();
  for (const metric of numbered(metrics, 'metrics')) {
    const names = METRICS.get(metric.value.name);
    const data = inside(metric, 'sum') ?? inside(metric, 'histogram');
    if (!names || !data) continue;
    if (CUMULATIVE.includes(data.value.aggregationTemporality as never)) {
      throw invalidInput([{ field: `${data.path}.aggregationTemporality`, message: 'expected delta: cumulative sums cannot be added up' }]);
    }
    for (const point of each(data, 'dataPoints')) {
      const attributes = attributesOf(point);
      const part = PARTS.get(attributes.value[names.kind]);
      if (!part) continue;
      const model = names.model.map((name) => attributes.value[name]).find((name) => name !== undefined) ?? null;
      const sum = sums.get(model) ?? { path: attributes.path };
      sums.set(model, { ...sum, [part]: wholeNumber((sum[part] ?? 0) + amountOf(point), attributes.path) });
    }
  }
  return [...sums].map(([model, { path, input, output, cached, creation }]) => {
    return toSpan({ path, model, input, output, cached, creation, caches: 'beside' });
  });
}

const amountOf = (point: UsagePlace): number => attributeCounter(point, ['asInt', 'asDouble', 'sum']) ?? 0;

/** Converts attributes to one object. OTLP writes them as a list; other payloads contain a plain object. */
export function attributesOf(record: UsagePlace): UsagePlace {
  const plain = inside(record, 'attributes');
  if (plain) return plain;
  const pairs = each(record, 'attributes').map(({ value }) => [String(value.key), plainValue(value.value)] as const);
  return { path: record.path, value: Object.fromEntries(pairs) };
}

/** Unwraps a value of OTLP. The result may be text, because OTLP writes 64-bit integers as text. */
function plainValue(value: unknown): unknown {
  if (!isRecord(value)) return undefined;
  return value.intValue ?? value.doubleValue ?? value.stringValue;
}

const DIGITS = /^\d{1,16}$/;

/** The value of the first attribute in `names` that is present. */
function attributeCounter(attributes: UsagePlace, names: readonly string[]): number | undefined {
  const name = names.find((each) => attributes.value[each] !== undefined && attributes.value[each] !== null);
  if (name === undefined) return undefined;
  const value = attributes.value[name];
  return wholeNumber(typeof value === 'string' && DIGITS.test(value) ? Number(value) : value, `${attributes.path}.${name}`);
}

/** Gives records a short path, because their real path in OTLP would be too long for an error message. */
const numbered = (records: readonly UsagePlace[], name: string): UsagePlace[] => records.map(({ value }, at) => ({ path: `payload…${name}[${at}]`, value }));
