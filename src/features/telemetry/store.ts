import { sql } from 'kysely';
import { chunks } from '../../storage/chunks.ts';
import type { Db } from '../../storage/engine.ts';
import type { AgentSpanRow, ModelPriceRow } from './tables.ts';

/** Rows of one insert stay far below the number of parameters that either engine takes. */
const CHUNK = 20;

export async function insertSpans(db: Db, rows: readonly AgentSpanRow[]): Promise<void> {
  for (const some of chunks(rows, CHUNK)) {
    await db.insertInto('agent_spans').values(some).execute();
  }
}

export async function spansOfPayload(db: Db, workspace: string, developerId: string, sha256: string): Promise<AgentSpanRow[]> {
  return await db
    .selectFrom('agent_spans')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('developer_id', '=', developerId)
    .where('payload_sha256', '=', sha256)
    .orderBy('id')
    .execute();
}

export interface UsageSum {
  day: number;
  developer_id: string;
  agent_type: string | null;
  model: string | null;
  spans: number;
  input_tokens: number;
  cached_input_tokens: number;
  cache_creation_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
  priced: number;
  cost_micros: number;
  mismatches: number;
}

const DAY_MS = 86_400_000;

/** Days are counted from the epoch, in UTC. */
export async function usageSums(db: Db, workspace: string, since: number): Promise<UsageSum[]> {
  const day = sql<number>`ingested_at / ${sql.lit(DAY_MS)}`;
  // Exact as far as a number is; a sum of integers beyond that SQLite's driver would refuse to give at all.
  const sum = <C extends keyof AgentSpanRow>(column: C) => sql<number | null>`sum(cast(${sql.ref(column)} as double precision))`.as(column);
  const rows = await db
    .selectFrom('agent_spans')
    .select(({ fn }) => [
      day.as('day'),
      'developer_id',
      'agent_type',
      'model',
      fn.countAll().as('spans'),
      sum('input_tokens'),
      sum('cached_input_tokens'),
      sum('cache_creation_tokens'),
      sum('output_tokens'),
      sum('reasoning_tokens'),
      sum('total_tokens'),
      fn.count('cost_micros').as('priced'),
      sum('cost_micros'),
      fn.sum('cost_mismatch').as('mismatches'),
    ])
    .where('workspace_id', '=', workspace)
    .where('ingested_at', '>=', since)
    .groupBy([day, 'developer_id', 'agent_type', 'model'])
    .orderBy('day', 'desc')
    .execute();
  // PostgreSQL counts in a type that its driver gives as text.
  return rows.map(({ developer_id, agent_type, model, ...sums }) => ({
    developer_id,
    agent_type,
    model,
    ...(Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, Number(value)])) as Omit<UsageSum, 'developer_id' | 'agent_type' | 'model'>),
  }));
}

/** The newest row of each model that was ever set. */
export async function currentPrices(db: Db, workspace: string): Promise<ModelPriceRow[]> {
  const rows = await db.selectFrom('model_prices').selectAll().where('workspace_id', '=', workspace).orderBy('version').execute();
  return [...new Map(rows.map((row) => [row.model, row])).values()];
}

export async function newestPriceVersion(db: Db, workspace: string): Promise<number> {
  const row = await db
    .selectFrom('model_prices')
    .select('version')
    .where('workspace_id', '=', workspace)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.version ?? 0;
}

export async function insertPrice(db: Db, row: ModelPriceRow): Promise<void> {
  await db.insertInto('model_prices').values(row).execute();
}
