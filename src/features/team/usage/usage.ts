import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import type { CountedUsage, UsageKey, UsageRow, UsageTotals } from './contract.ts';
import { reportersSince, type UsageSum, usageSums } from './store.ts';

export interface Usage {
  rows: UsageRow[];
  totals: UsageTotals;
  /** Agent sessions that it was reported for. */
  sessions: number;
}

const NOTHING: CountedUsage = {
  sessions: 0,
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

const ALL_BUT_TASKS: readonly UsageKey[] = ['day', 'developer', 'agent', 'model'];

/**
 * Tokens and cost, the newest day and the highest cost first. Private developers are one: they cannot be told apart, and
 * neither by their agents nor by their tasks.
 */
export async function usageSince(db: Db, workspace: string, since: number, viewer: Principal | null, by = ALL_BUT_TASKS): Promise<Usage> {
  const name = await namesFor(db, workspace, viewer);
  const hidden = (await reportersSince(db, workspace, since)).filter((id) => name(id) === PRIVATE);
  const rows = await usageSums(db, workspace, since, by, hidden);
  const [all] = await usageSums(db, workspace, since, [], hidden);
  const { sessions, ...totals } = all ? countsOf(all) : NOTHING;
  return { rows: rows.map((row) => ({ ...aboutOf(row, name, by), ...countsOf(row) })).sort(inOrder), totals, sessions };
}

/** Whose, with what and on what; null for what the sums are not by. */
function aboutOf({ day, developer_id, agent_type = null, model = null, task_id, task_title }: UsageSum, name: (id: string) => string, by: readonly UsageKey[]) {
  const isSomebodys = by.includes('developer') || by.includes('agent');
  return {
    day: day === undefined ? null : new Date(day * 86_400_000).toISOString().slice(0, 10),
    developer: !isSomebodys ? null : developer_id ? name(developer_id) : PRIVATE,
    agent_type,
    agent_id: agent_type !== null && developer_id ? `${agent_type}@${developer_id}` : null,
    model,
    task: task_id ? { task_id, title: task_title ?? '' } : null,
  };
}

function countsOf({ sessions, spans, priced, cost_micros, mismatches, ...sum }: UsageSum): CountedUsage {
  const { input_tokens, cached_input_tokens, cache_creation_tokens, output_tokens, reasoning_tokens, total_tokens } = sum;
  const tokens = { input_tokens, cached_input_tokens, cache_creation_tokens, output_tokens, reasoning_tokens, total_tokens };
  return { sessions, spans, ...tokens, cost_usd: priced === 0 ? null : cost_micros / 1e6, unpriced: spans - priced, mismatches };
}

const inOrder = (one: UsageRow, other: UsageRow): number =>
  (other.day ?? '').localeCompare(one.day ?? '') ||
  (other.cost_usd ?? 0) - (one.cost_usd ?? 0) ||
  other.total_tokens - one.total_tokens ||
  JSON.stringify(one).localeCompare(JSON.stringify(other));
