import { z } from 'zod';
import { contract, MEMBER_READ, sessionId } from '../../../kernel/contract.ts';
import { SOURCES } from './sources.ts';

const spanView = z.strictObject({
  span_id: z.string(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_creation_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  total_tokens: z.int(),
  cost_usd: z.number().nullable(),
  price_version: z.string().nullable(),
});

export const ingestTelemetry = contract({
  name: 'covibe_ingest_agent_telemetry',
  toolset: 'team',
  title: 'Report token usage',
  description: 'Reports the tokens that a run used, from the JSON that its harness or provider wrote. Hooks and covibe-local do so by themselves.',
  input: z.strictObject({
    source: z.enum(SOURCES).describe('Who wrote the payload: a harness, a provider, a proxy or OpenTelemetry.'),
    payload: z
      .record(z.string(), z.unknown())
      .describe(
        [
          'That JSON as it is, at most 256 KiB.',
          'claude: modelUsage, or a message with usage. codex, openai: usage, response.usage or info.last_token_usage. cursor, proxy: direct_counts {model, input_tokens, cached_input_tokens, cache_creation_tokens, output_tokens, reasoning_tokens}. otel: OTLP JSON with gen_ai.* attributes.',
          'The server reads model and counters, computes the cost, and stores counters and a hash, nothing else. The same payload twice is counted once.',
        ].join(' '),
      ),
    submitted_cost: z
      .number()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('What you believe it cost, in US dollars. A warning COST_MISMATCH says that these tokens cost something else.'),
    session_id: sessionId,
  }),
  output: z.strictObject({
    spans: z.array(spanView),
    payload_sha256: z.string(),
    verified: z.literal(1),
    cost_usd: z.number().nullable(),
    submitted_cost_usd: z.number().nullable(),
    cost_mismatch: z.boolean(),
  }),
  annotations: { idempotentHint: true },
});

const perMillion = z.number().min(0).max(10_000);

export const priceView = z.strictObject({
  model: z.string(),
  input: z.number(),
  cached_input: z.number().nullable(),
  cache_write: z.number().nullable(),
  cache_write_1h: z.number().nullable(),
  output: z.number(),
  prompt_up_to: z.int().nullable(),
  version: z.string(),
  set_at: z.int().nullable(),
});
export type PriceView = z.output<typeof priceView>;

export const listPrices = contract({
  ...MEMBER_READ,
  name: 'prices.list',
  title: 'List prices',
  description: 'Dollars for a million tokens of each model: the built-in prices, and those that this workspace set instead.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(priceView) }),
});

export const setPrice = contract({
  name: 'prices.set',
  toolset: 'admin',
  access: 'operator',
  title: 'Set a price',
  description: 'Sets what a million tokens of a model cost in this workspace, from now on; costs that are stored stay as they are. price null takes it back.',
  input: z.strictObject({
    model: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._:@+[\]-]{0,79}\*?$/, { error: 'expected the name of a model, which may end in *' })
      .describe('A model without its release date; with * at the end, all that begin so.'),
    price: z
      .strictObject({
        input: perMillion,
        cached_input: perMillion.optional(),
        cache_write: perMillion.optional(),
        cache_write_1h: perMillion.optional(),
        output: perMillion,
      })
      .nullable(),
  }),
  output: z.strictObject({ model: z.string(), version: z.string() }),
});

const usageCounts = {
  spans: z.int(),
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_creation_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  total_tokens: z.int(),
  /** Of the spans whose price is known; null where there is none. */
  cost_usd: z.number().nullable(),
  unpriced: z.int(),
  mismatches: z.int(),
};
export const usageTotals = z.strictObject(usageCounts);
export type UsageTotals = z.output<typeof usageTotals>;

/** What usage can be summed by. */
const USAGE_KEYS = ['day', 'developer', 'agent', 'model', 'task'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

const sessions = z.int().describe('Agent sessions that it was reported for; reports without one are in none.');

/** A key that the sums are not by is null. */
export const usageRow = z.strictObject({
  day: z.string().nullable(),
  developer: z.string().nullable(),
  agent_type: z.string().nullable(),
  agent_id: z.string().nullable().describe('Of the page of the agent; null for a private developer.'),
  model: z.string().nullable(),
  task: z.strictObject({ task_id: z.string(), title: z.string() }).nullable(),
  sessions,
  ...usageCounts,
});
export type UsageRow = z.output<typeof usageRow>;
const countedUsage = z.strictObject({ sessions, ...usageCounts });
export type CountedUsage = z.output<typeof countedUsage>;

export const listUsage = contract({
  ...MEMBER_READ,
  name: 'usage.list',
  title: 'List usage',
  description:
    'Tokens and cost by day (UTC), developer, agent, model or task, the newest day and the highest cost first. A report belongs to the task that its session had last started. The totals are of all rows, also of those beyond the limit.',
  input: z.strictObject({
    days: z.int().min(1).max(366).default(30).describe('How many days, today among them.'),
    by: z
      .array(z.enum(USAGE_KEYS))
      .max(USAGE_KEYS.length)
      .refine((keys) => new Set(keys).size === keys.length, { error: 'names a key twice' })
      .optional()
      .describe('What to sum by; day, developer, agent and model where it is not said.'),
    limit: z.int().min(1).max(5_000).optional().describe('At most so many rows; 1,000 where it is not said.'),
  }),
  output: z.strictObject({
    items: z.array(usageRow),
    totals: countedUsage,
    left_out: z.int().describe('Rows beyond the limit.'),
  }),
});
