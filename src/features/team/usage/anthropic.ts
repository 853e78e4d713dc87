import { counter, dollars, has, inside, type UsagePlace } from './place.ts';
import { toSpan, type UsageSpan } from './span.ts';

const INPUT = ['input_tokens', 'inputTokens'];
const OUTPUT = ['output_tokens', 'outputTokens'];
const CACHE_READ = ['cache_read_input_tokens', 'cacheReadInputTokens'];
const CACHE_WRITE = ['cache_creation_input_tokens', 'cacheCreationInputTokens'];

/** Claude Code's result (`modelUsage`), a line of its transcript (`message.usage`), a message of the API (`usage`), or its counters alone. */
export function anthropic(payload: UsagePlace): UsageSpan[] | undefined {
  const perModel = inside(payload, 'modelUsage');
  if (perModel) return Object.keys(perModel.value).flatMap((model, at) => spanOf(indexed(perModel, model, at), model, undefined) ?? []);
  const holder = [payload, inside(payload, 'message')].find((place) => inside(place, 'usage')) ?? payload;
  const span = spanOf(inside(holder, 'usage') ?? holder, holder.value.model ?? payload.value.model, dollars(payload, 'total_cost_usd', 'costUSD'));
  return span && [span];
}

/** The same where it cannot be anything else: a proxy does not say whose usage it passes on. */
export function anthropicByItsMarks(payload: UsagePlace): UsageSpan[] | undefined {
  const holders = [payload, inside(payload, 'usage'), inside(inside(payload, 'message'), 'usage')];
  const isMarked = has(payload, 'modelUsage') || holders.some((holder) => has(holder, ...CACHE_READ, ...CACHE_WRITE));
  return isMarked ? anthropic(payload) : undefined;
}

/** Anthropic counts what was read from and written to the cache beside the input. */
function spanOf(usage: UsagePlace | undefined, model: unknown, claimed: number | undefined): UsageSpan | undefined {
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
