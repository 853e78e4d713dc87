import { invalidInput } from '../../../kernel/reply.ts';

/**
 * The usage of one model in a payload, in the only form that is stored. The four counters that make up the total are disjoint, so that they can
 * be added and priced: `input_tokens` are those of the prompt that were neither read from a cache nor written to one. `reasoning_tokens` are
 * part of `output_tokens`, `cache_creation_1h_tokens` of `cache_creation_tokens`.
 */
export interface UsageSpan {
  readonly model: string | null;
  readonly provider: string | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_creation_tokens: number;
  readonly cache_creation_1h_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly total_tokens: number;
  /** The cost that the payload itself reports, in dollars. */
  readonly claimed_usd: number | null;
}

interface CounterReading {
  readonly path: string;
  readonly model: unknown;
  readonly provider?: string | null;
  readonly input?: number | undefined;
  readonly cached?: number | undefined;
  readonly creation?: number | undefined;
  readonly creation1h?: number | undefined;
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
  readonly claimed?: number | undefined;
  /** Whether `input` includes the tokens of caches, as for OpenAI, or not, as for Anthropic. */
  readonly caches: 'inside' | 'beside';
  /** Whether `output` includes the reasoning. */
  readonly thoughts?: 'inside' | 'beside';
}

const refuse = (path: string, message: string) => invalidInput([{ field: path, message }]);

export function toSpan(reading: CounterReading): UsageSpan {
  const { path, input = 0, cached = 0, creation = 0, output = 0, reasoning = 0, creation1h = 0 } = reading;
  const inCaches = cached + creation;
  if (reading.caches === 'inside' && inCaches > input) throw refuse(path, 'counts more cached input than input');
  if (reading.thoughts !== 'beside' && reasoning > output) throw refuse(path, 'counts more reasoning than output');
  if (creation1h > creation) throw refuse(path, 'counts more tokens cached for an hour than cached at all');
  const fresh = reading.caches === 'inside' ? input - inCaches : input;
  const produced = reading.thoughts === 'beside' ? output + reasoning : output;
  const model = modelName(reading.model, path);
  return {
    model,
    provider: providerOf(model) ?? reading.provider ?? null,
    input_tokens: fresh,
    cached_input_tokens: cached,
    cache_creation_tokens: creation,
    cache_creation_1h_tokens: creation1h,
    output_tokens: produced,
    reasoning_tokens: reasoning,
    total_tokens: fresh + inCaches + produced,
    claimed_usd: reading.claimed ?? null,
  };
}

/** The model name is the only text stored from a payload: short, and in characters with which no sentence can be written. */
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,79}(\[[0-9a-z]{1,4}\])?$/;

/** A cloud path contains an account name and is longer than any model name. Only its end is the model name. */
const CLOUD_PLACE = /^(arn:|projects\/)[^ ]*\//;

function modelName(value: unknown, path: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  const name = nameOfModel(value);
  if (name !== undefined) return name;
  throw refuse(path, 'has a model that is not a valid model name');
}

/** Undefined for anything that is not a model name. */
export function nameOfModel(value: unknown): string | undefined {
  const name = typeof value === 'string' ? value.replace(CLOUD_PLACE, '') : '';
  return MODEL.test(name) ? name : undefined;
}

const MAKERS: readonly (readonly [RegExp, string])[] = [
  [/claude/i, 'anthropic'],
  [/(^|[/.])(gpt-|chatgpt|codex|o\d)/i, 'openai'],
  [/gemini/i, 'google'],
];

const providerOf = (model: string | null): string | null => (model === null ? null : (MAKERS.find(([pattern]) => pattern.test(model))?.[1] ?? null));
