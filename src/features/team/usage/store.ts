import { sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { matching } from '../../../storage/rows.ts';
import { PRIVATE, type Viewer } from '../../core/identity/index.ts';
import type { CountedUsage, UsageKey, UsageRow, UsageTotals } from './contract.ts';

/** One row of sums. If the sums are not grouped by a key, the key is missing. */
interface UsageSum {
  day?: number;
  /** Null in the row that combines all hidden developers with all their agents and tasks. */
  developer_id?: string | null;
  agent_type?: string | null;
  model?: string | null;
  task_id?: string | null;
  task_title?: string | null;
  sessions: number;
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

/** The columns to group by for each key. The key `agent` includes the developer, because agents of two developers must not be combined. */
const COLUMNS = {
  day: ['day'],
  developer: ['developer_id'],
  agent: ['developer_id', 'agent_type'],
  model: ['model'],
  task: ['task_id', 'task_title'],
} as const satisfies Record<UsageKey, readonly (keyof UsageSum)[]>;
const TEXTS: ReadonlySet<string> = new Set(['developer_id', 'agent_type', 'model', 'task_id', 'task_title']);

export async function usageSums(db: Db, workspace: string, since: number, by: readonly UsageKey[], hidden: readonly string[]): Promise<UsageSum[]> {
  const keys = [...new Set(by.flatMap((key) => COLUMNS[key]))];
  // Sums are computed as doubles, which rounds large ones, because SQLite's driver refuses to return large sums of integers.
  const sum = (column: keyof UsageSum) => sql<number | null>`sum(cast(${sql.ref(column)} as double precision))`.as(column);
  const query = db
    .selectFrom(spansSince(db, workspace, since, by.includes('task'), hidden).as('spans'))
    .select(({ fn }) => [
      ...keys,
      fn.countAll().as('spans'),
      sql<number>`count(distinct session_id)`.as('sessions'),
      sum('input_tokens'),
      sum('cached_input_tokens'),
      sum('cache_creation_tokens'),
      sum('output_tokens'),
      sum('reasoning_tokens'),
      sum('total_tokens'),
      fn.count('cost_micros').as('priced'),
      sum('cost_micros'),
      fn.sum('cost_mismatch').as('mismatches'),
    ]);
  const rows = await (keys.length === 0 ? query : query.groupBy(keys)).execute();
  // The driver of PostgreSQL returns counts as text.
  return rows.map(
    (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, TEXTS.has(name) ? value : Number(value)])) as unknown as UsageSum,
  );
}

async function reportersSince(db: Db, workspace: string, since: number): Promise<string[]> {
  const spans = matching(db, 'agent_spans', { workspace_id: workspace }).where('ingested_at', '>=', since);
  return (await spans.select('developer_id').distinct().execute()).map(({ developer_id }) => developer_id);
}

const DAY_MS = 86_400_000;

function spansSince(db: Db, workspace: string, since: number, withTasks: boolean, hidden: readonly string[]) {
  const shown = <T>(column: string) =>
    hidden.length === 0
      ? sql<T | null>`${sql.ref(column)}`
      : sql<T | null>`case when agent_spans.developer_id in (${sql.join(hidden)}) then null else ${sql.ref(column)} end`;
  const none = sql<string | null>`null`;
  return (withTasks ? spansWithTasks(db) : db.selectFrom('agent_spans'))
    .select([
      // The number of the day since the epoch, in UTC.
      sql<number>`agent_spans.ingested_at / ${sql.lit(DAY_MS)}`.as('day'),
      shown<string>('agent_spans.developer_id').as('developer_id'),
      shown<string>('agent_spans.agent_type').as('agent_type'),
      (withTasks ? shown<string>('begun.id') : none).as('task_id'),
      (withTasks ? shown<string>('begun.title') : none).as('task_title'),
      'agent_spans.model',
      'agent_spans.session_id',
      'agent_spans.input_tokens',
      'agent_spans.cached_input_tokens',
      'agent_spans.cache_creation_tokens',
      'agent_spans.output_tokens',
      'agent_spans.reasoning_tokens',
      'agent_spans.total_tokens',
      'agent_spans.cost_micros',
      'agent_spans.cost_mismatch',
    ])
    .where('agent_spans.workspace_id', '=', workspace)
    .where('agent_spans.ingested_at', '>=', since);
}

/**
 * Joins each span with the task that its session started last. The task may already have ended, because harnesses report only when a turn is over.
 * The subquery looks up exactly one task per span, so that no span is counted twice and no other task is read.
 */
const spansWithTasks = (db: Db) =>
  db
    .selectFrom('agent_spans')
    .leftJoin('tasks as begun', (join) =>
      join
        .onRef('begun.workspace_id', '=', 'agent_spans.workspace_id')
        .on('begun.id', '=', ({ selectFrom }) =>
          selectFrom('tasks')
            .select('tasks.id')
            .whereRef('tasks.workspace_id', '=', 'agent_spans.workspace_id')
            .whereRef('tasks.session_id', '=', 'agent_spans.session_id')
            .whereRef('tasks.started_at', '<=', 'agent_spans.ingested_at')
            .orderBy('tasks.started_at', 'desc')
            .orderBy('tasks.id', 'desc')
            .limit(1),
        ),
    );

interface Usage {
  rows: UsageRow[];
  totals: UsageTotals;
  /** The number of agent sessions that have reported usage. */
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
 * Sums up tokens and cost. The newest day comes first, and within a day the highest cost. All private developers are combined, so that not even
 * their agents or tasks reveal who they are.
 */
export async function usageSince(db: Db, workspace: string, since: number, viewer: Viewer, by = ALL_BUT_TASKS): Promise<Usage> {
  const hidden = (await reportersSince(db, workspace, since)).filter((id) => !viewer.sees(id));
  const rows = await usageSums(db, workspace, since, by, hidden);
  const [all] = await usageSums(db, workspace, since, [], hidden);
  const { sessions, ...totals } = all ? countsOf(all) : NOTHING;
  return { rows: rows.map((row) => ({ ...aboutOf(row, viewer, by), ...countsOf(row) })).sort(inOrder), totals, sessions };
}

/** The keys of a row. If the sums are not grouped by a key, the key is null. */
function aboutOf({ day, developer_id, agent_type = null, model = null, task_id, task_title }: UsageSum, viewer: Viewer, by: readonly UsageKey[]) {
  const isSomebodys = by.includes('developer') || by.includes('agent');
  return {
    day: day === undefined ? null : new Date(day * 86_400_000).toISOString().slice(0, 10),
    developer: !isSomebodys ? null : developer_id ? viewer.name(developer_id) : PRIVATE,
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
