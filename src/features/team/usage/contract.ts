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
  description: 'Reports the tokens that a run used, from the JSON of its harness or provider. Hooks and covibe-local do this automatically.',
  input: z.strictObject({
    source: z.enum(SOURCES).describe('Origin of the payload: a harness, a provider, a proxy or OpenTelemetry.'),
    payload: z
      .record(z.string(), z.unknown())
      .describe(
        [
          'The unchanged JSON, at most 256 KiB.',
          'claude: modelUsage, or a message with usage. codex, openai: usage, response.usage or info.last_token_usage. cursor, proxy: direct_counts {model, input_tokens, cached_input_tokens, cache_creation_tokens, output_tokens, reasoning_tokens}. otel: OTLP JSON with gen_ai.* attributes.',
          'The server reads model and counters, computes the cost, and stores only counters and a hash. A repeated payload is counted once.',
        ].join(' '),
      ),
    submitted_cost: z
      .number()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('The cost you expect, in US dollars. A COST_MISMATCH warning reports that the computed cost differs.'),
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
  description: 'Dollars per million tokens of each model: built-in prices, and those that this workspace has set.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(priceView) }),
});

export const setPrice = contract({
  name: 'prices.set',
  toolset: 'admin',
  access: 'operator',
  title: 'Set a price',
  description:
    'Sets the price per million tokens of a model in this workspace, from now on. Stored costs do not change. price null restores the built-in price.',
  input: z.strictObject({
    model: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._:@+[\]-]{0,79}\*?$/, { error: 'expected a model name, which may end in *' })
      .describe('A model without its release date; with * at the end, all models with that prefix.'),
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
  /** The cost of the spans with a known price. Null if no span has one. */
  cost_usd: z.number().nullable(),
  unpriced: z.int(),
  mismatches: z.int(),
};
export const usageTotals = z.strictObject(usageCounts);
export type UsageTotals = z.output<typeof usageTotals>;

/** The keys by which usage can be summed. */
const USAGE_KEYS = ['day', 'developer', 'agent', 'model', 'task'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

const sessions = z.int().describe('Agent sessions with reports. Reports without a session are not counted here.');

/** One row of sums. If the sums are not grouped by a key, the key is null. */
export const usageRow = z.strictObject({
  day: z.string().nullable(),
  developer: z.string().nullable(),
  agent_type: z.string().nullable(),
  agent_id: z.string().nullable().describe('Id of the agent; null for a private developer.'),
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
    'Tokens and cost by day (UTC), developer, agent, model or task; newest day and highest cost first. A report belongs to the task that its session started last. The totals include the rows beyond the limit.',
  input: z.strictObject({
    days: z.int().min(1).max(366).default(30).describe('Number of days, including today.'),
    by: z
      .array(z.enum(USAGE_KEYS))
      .max(USAGE_KEYS.length)
      .refine((keys) => new Set(keys).size === keys.length, { error: 'contains a key twice' })
      .optional()
      .describe('Keys to sum by. Default: day, developer, agent and model.'),
    limit: z.int().min(1).max(5_000).optional().describe('Maximum rows. Default: 1,000.'),
  }),
  output: z.strictObject({
    items: z.array(usageRow),
    totals: countedUsage,
    left_out: z.int().describe('Rows beyond the limit.'),
  }),
});
