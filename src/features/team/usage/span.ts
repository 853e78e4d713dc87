import { invalidInput } from '../../../kernel/reply.ts';

/**
 * The usage of one model in a payload. Nothing else of a payload is stored. The four counters that make up the total do not overlap, so that they
 * can be added and priced. `input_tokens` counts the tokens of the prompt that were neither read from a cache nor written to one.
 * `reasoning_tokens` is part of `output_tokens`, and `cache_creation_1h_tokens` is part of `cache_creation_tokens`.
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
  /** `inside` if `input` includes cached tokens, as with OpenAI. `beside` if it excludes them, as with Anthropic. */
  readonly caches: 'inside' | 'beside';
  /** `beside` if `output` excludes the reasoning tokens. Otherwise it includes them. */
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

/** The model name is the only text that is stored from a payload. It must be short and without spaces, so that it cannot contain a prompt. */
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,79}(\[[0-9a-z]{1,4}\])?$/;

/** The path of a cloud model contains the account name. It is removed, because only the end of the path is the model name. */
const CLOUD_PLACE = /^(arn:|projects\/)[^ ]*\//;

function modelName(value: unknown, path: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  const name = nameOfModel(value);
  if (name !== undefined) return name;
  throw refuse(path, 'has a model that is not a valid model name');
}

/** Returns the model name, or undefined if the value is not one. */
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
