import { invalidInput } from '../../../kernel/reply.ts';
import { otel } from './otel.ts';
import { counter, dollars, each, has, inside, rootOf, type UsagePlace } from './payload-reader.ts';
import { toSpan, type UsageSpan } from './span.ts';

/** Reads a payload of one shape. Returns undefined if the payload has another shape, and throws if its counters are impossible. */
type Shape = (payload: UsagePlace) => UsageSpan[] | undefined;

/** Used for sources that do not show which provider or tool wrote the payload. */
const ANY_MAKER: readonly Shape[] = [direct, anthropicByItsMarks, gemini, openai];

/** The sources of counters, and the shapes that each source uses. The first shape that fits the payload is used. */
const SHAPES = {
  claude: [anthropic],
  'claude-code': [anthropic],
  anthropic: [anthropic],
  codex: [openai],
  openai: [openai],
  gemini: [gemini, direct],
  cursor: [direct, anthropicByItsMarks, openai],
  harness: ANY_MAKER,
  provider: ANY_MAKER,
  proxy: ANY_MAKER,
  otel: [otel],
} as const satisfies Record<string, readonly Shape[]>;

export type Source = keyof typeof SHAPES;
export const SOURCES = Object.keys(SHAPES) as [Source, ...Source[]];

/** The maximum number of spans in a payload. A turn of an agent produces far fewer. */
const MAX_SPANS = 200;

export function readPayload(source: Source, payload: Record<string, unknown>): UsageSpan[] {
  const root = rootOf(payload);
  const shapes: readonly Shape[] = SHAPES[source];
  let spans: UsageSpan[] | undefined;
  for (const shape of shapes) {
    spans = shape(root);
    if (spans) break;
  }
  const counted = (spans ?? []).filter((span) => span.total_tokens > 0);
  if (counted.length === 0) throw invalidInput([{ field: 'payload', message: `has no token counters in a shape that ${source} uses` }]);
  if (counted.length > MAX_SPANS) throw invalidInput([{ field: 'payload', message: `has more than ${MAX_SPANS} spans with token counters` }]);
  return counted;
}

const INPUT = ['input_tokens', 'inputTokens'];
const OUTPUT = ['output_tokens', 'outputTokens'];
const CURSORS_CACHES = ['cacheReadTokens', 'cacheWriteTokens'];

/**
 * Reads `direct_counts`, which is one object or a list. Proxies copy these counters from a structured event, and the companion copies them from
 * Cursor's own store. Also reads an event of Cursor itself, which is recognised by its names for cache counters. The input counter excludes cached
 * tokens unless `input_includes_cached` is true.
 */
function direct(payload: UsagePlace): UsageSpan[] | undefined {
  const own = [inside(payload, 'tokenUsage'), inside(payload, 'usage')].find((usage) => has(usage, ...CURSORS_CACHES));
  const one = inside(payload, 'direct_counts') ?? (has(payload, 'direct_counts') ? undefined : own);
  const all = one ? [one] : each(payload, 'direct_counts');
  const counted = all.filter((counts) => has(counts, ...INPUT, ...OUTPUT));
  return counted.length === 0 ? undefined : counted.map((counts) => directSpan(counts, counts.value.model ?? payload.value.model));
}

function directSpan(counts: UsagePlace, model: unknown): UsageSpan {
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

const CACHE_READ = ['cache_read_input_tokens', 'cacheReadInputTokens'];
const CACHE_WRITE = ['cache_creation_input_tokens', 'cacheCreationInputTokens'];

/** Reads a result of Claude Code (`modelUsage`), a line of its transcript (`message.usage`), an API message (`usage`), or the counters alone. */
function anthropic(payload: UsagePlace): UsageSpan[] | undefined {
  const perModel = inside(payload, 'modelUsage');
  if (perModel) return Object.keys(perModel.value).flatMap((model, at) => anthropicSpan(indexed(perModel, model, at), model, undefined) ?? []);
  const holder = [payload, inside(payload, 'message')].find((place) => inside(place, 'usage')) ?? payload;
  const span = anthropicSpan(inside(holder, 'usage') ?? holder, holder.value.model ?? payload.value.model, dollars(payload, 'total_cost_usd', 'costUSD'));
  return span && [span];
}

/** Like `anthropic`, but only if the payload has field names that no other provider uses. A proxy does not say which provider it calls. */
function anthropicByItsMarks(payload: UsagePlace): UsageSpan[] | undefined {
  const holders = [payload, inside(payload, 'usage'), inside(inside(payload, 'message'), 'usage')];
  const isMarked = has(payload, 'modelUsage') || holders.some((holder) => has(holder, ...CACHE_READ, ...CACHE_WRITE));
  return isMarked ? anthropic(payload) : undefined;
}

/** Anthropic's input counter excludes the tokens that were read from or written to the cache. */
function anthropicSpan(usage: UsagePlace | undefined, model: unknown, claimed: number | undefined): UsageSpan | undefined {
  if (!usage || !has(usage, ...INPUT, ...OUTPUT)) return undefined;
  return toSpan({
    path: usage.path,
    model,
    provider: 'anthropic',
    input: counter(usage, ...INPUT),
    cached: counter(usage, ...CACHE_READ),
    creation: counter(usage, ...CACHE_WRITE),
    creation1h: counter(inside(usage, 'cache_creation'), 'ephemeral_1h_input_tokens'),
    output: counter(usage, ...OUTPUT),
    claimed: claimed ?? dollars(usage, 'costUSD'),
    caches: 'beside',
  });
}

function indexed(perModel: UsagePlace, key: string, at: number): UsagePlace | undefined {
  const found = inside(perModel, key);
  return found && { ...found, path: `${perModel.path}[${at}]` };
}

const OPENAI_INPUT = ['input_tokens', 'prompt_tokens', 'inputTokens'];
const OPENAI_OUTPUT = ['output_tokens', 'completion_tokens', 'outputTokens'];

/**
 * Reads an API response or chat completion (`usage`), the event at the end of a response (`response.usage`), a turn (`usage`) or token count
 * (`info.last_token_usage`) of Codex, or the counters alone.
 */
function openai(payload: UsagePlace): UsageSpan[] | undefined {
  const event = payload.value.type === 'event_msg' ? (inside(payload, 'payload') ?? payload) : payload;
  const holder = inside(event, 'response') ?? event;
  const usage = inside(holder, 'usage') ?? tokenCount(event) ?? holder;
  if (!has(usage, ...OPENAI_INPUT, ...OPENAI_OUTPUT)) return undefined;
  return [openaiSpan(usage, holder.value.model ?? event.value.model ?? payload.value.model)];
}

/** OpenAI's input counter includes the cached input, and its output counter includes the reasoning. */
function openaiSpan(usage: UsagePlace, model: unknown): UsageSpan {
  const input = inside(usage, 'input_tokens_details') ?? inside(usage, 'prompt_tokens_details');
  const output = inside(usage, 'output_tokens_details') ?? inside(usage, 'completion_tokens_details');
  return toSpan({
    path: usage.path,
    model,
    input: counter(usage, ...OPENAI_INPUT),
    cached: counter(usage, 'cached_input_tokens', 'cachedInputTokens') ?? counter(input, 'cached_tokens'),
    creation: counter(input, 'cache_write_tokens'),
    output: counter(usage, ...OPENAI_OUTPUT),
    reasoning: counter(usage, 'reasoning_output_tokens', 'reasoning_tokens', 'reasoningOutputTokens', 'reasoningTokens') ?? counter(output, 'reasoning_tokens'),
    caches: 'inside',
  });
}

/** Reads the counters of the last turn. Codex also reports the totals of the session, but adding those up would count each turn repeatedly. */
function tokenCount(event: UsagePlace): UsagePlace | undefined {
  const info = inside(event, 'info');
  const last = inside(info, 'last_token_usage');
  if (!last && has(info, 'total_token_usage')) {
    throw invalidInput([{ field: 'payload.info.last_token_usage', message: 'is required: the totals of a session cannot be added up' }]);
  }
  return last;
}

/** Reads a response of the Gemini API. Its prompt counter includes the cached input, but its candidates counter excludes the thoughts. */
function gemini(payload: UsagePlace): UsageSpan[] | undefined {
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
