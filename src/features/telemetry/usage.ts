import type { Principal } from '../../kernel/context.ts';
import type { Db } from '../../storage/engine.ts';
import { namesFor } from '../identity/index.ts';
import type { UsageRow, UsageTotals } from './contract.ts';
import { usageSums } from './store.ts';

export interface Usage {
  rows: UsageRow[];
  totals: UsageTotals;
}

const NOTHING: UsageTotals = {
  spans: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_creation_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  total_tokens: 0,
  cost_usd: null,
  unpriced: 0,
  mismatches: 0,
};

/** Tokens and cost by day, developer, agent and model, the newest day first. Private developers are one row: they cannot be told apart. */
export async function usageSince(db: Db, workspace: string, since: number, viewer: Principal | null): Promise<Usage> {
  const name = await namesFor(db, workspace, viewer);
  const rows = new Map<string, UsageRow>();
  let totals = NOTHING;
  for (const { day, developer_id, agent_type, model, priced, cost_micros, ...sums } of await usageSums(db, workspace, since)) {
    const about = { day: new Date(day * 86_400_000).toISOString().slice(0, 10), developer: name(developer_id), agent_type, model };
    const counts = { ...sums, cost_usd: priced === 0 ? null : cost_micros / 1e6, unpriced: sums.spans - priced };
    const key = JSON.stringify(Object.values(about));
    rows.set(key, { ...about, ...added(rows.get(key) ?? NOTHING, counts) });
    totals = added(totals, counts);
  }
  return { rows: [...rows.values()], totals };
}

function added(one: UsageTotals, other: UsageTotals): UsageTotals {
  const cost = one.cost_usd === null || other.cost_usd === null ? (one.cost_usd ?? other.cost_usd) : one.cost_usd + other.cost_usd;
  return {
    spans: one.spans + other.spans,
    input_tokens: one.input_tokens + other.input_tokens,
    cached_input_tokens: one.cached_input_tokens + other.cached_input_tokens,
    cache_creation_tokens: one.cache_creation_tokens + other.cache_creation_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
    // Sums of dollars as floating numbers drift in the last digit: micro-dollars are exact.
    cost_usd: cost === null ? null : Math.round(cost * 1e6) / 1e6,
    unpriced: one.unpriced + other.unpriced,
    mismatches: one.mismatches + other.mismatches,
  };
}
