import type { ActionInput, UsageLine } from '../../api.ts';
import type { Column } from '../../parts/table.tsx';
import { AgentName, costWords, PathLink, UntrustedText, workerOf } from '../../parts/values.tsx';
import type { UsageSearch } from '../../search.ts';

/** What a row stands for, and what the server sums by for it. */
export type Grouping = NonNullable<UsageSearch['by']> | 'agent';
export const GROUPING_KEYS = {
  agent: ['developer', 'agent', 'model'],
  day: ['day', 'developer', 'agent', 'model'],
  task: ['task', 'developer', 'agent', 'model'],
  developer: ['developer', 'model'],
} as const satisfies Record<Grouping, ActionInput<'usage.list'>['by']>;
const USUAL_DAYS = 30;
export const daysOf = ({ days }: UsageSearch): number => days ?? USUAL_DAYS;

/** Whose usage it is, as people know them. */
export const whoOf = ({ developer, agent_type }: UsageLine): string => workerOf(developer ?? '—', agent_type);
export const modelOf = ({ model }: Pick<UsageLine, 'model'>): string => model ?? 'unknown model';

export const keyOf = ({ day, agent_id, developer, model, task }: UsageLine): string => JSON.stringify([day, agent_id, developer, model, task?.task_id]);

const FIGURES: readonly Column<UsageLine>[] = [
  { label: 'Input', width: 'sm:w-26 lg:w-28', prefix: 'in', cell: ({ input_tokens }) => input_tokens.toLocaleString() },
  { label: 'Cached', width: 'lg:w-28', from: 'lg', prefix: 'cached', cell: ({ cached_input_tokens }) => cached_input_tokens.toLocaleString() },
  { label: 'Output', width: 'sm:w-26 lg:w-28', prefix: 'out', cell: ({ output_tokens }) => output_tokens.toLocaleString() },
  { label: 'Sessions', width: 'lg:w-22', from: 'lg', prefix: 'sessions', cell: ({ sessions }) => (sessions === 0 ? '—' : sessions.toLocaleString()) },
  { label: 'Cost', role: 'state', width: 'sm:w-20 lg:w-24', cell: (row) => <span title={titleOf(row)}>{costWords(row)}</span> },
];

const DAY: Column<UsageLine> = { label: 'Day', role: 'meta', width: 'sm:w-24', cell: ({ day }) => day ?? '—' };

const TASK: Column<UsageLine> = {
  label: 'Task',
  role: 'title',
  cell: ({ task }) =>
    task === null ? (
      <span className="text-muted">No task</span>
    ) : (
      <PathLink path={`/tasks?task=${task.task_id}`}>
        <UntrustedText text={task.title} brief />
      </PathLink>
    ),
};

export function usageColumns(by: Grouping): readonly Column<UsageLine>[] {
  const width = by === 'task' ? 'sm:w-[16%]' : '';
  return [
    ...(by === 'day' ? [DAY] : by === 'task' ? [TASK] : []),
    {
      label: by === 'developer' ? 'Developer' : 'Agent',
      role: by === 'task' ? 'text' : 'title',
      width,
      cell: (row) => <AgentName name={whoOf(row)} id={row.agent_id} />,
    },
    {
      label: 'Model',
      role: 'wide',
      width,
      cell: (row) => (row.model === null ? <span className="text-muted">{modelOf(row)}</span> : <UntrustedText text={row.model} brief />),
    },
    ...FIGURES,
  ];
}

function titleOf({ cost_usd, unpriced, spans }: UsageLine): string | undefined {
  if (unpriced === 0) return cost_usd === null ? undefined : `$${cost_usd}`;
  return `${unpriced} of ${spans} reports have no known price`;
}

/** The rows that are shown, as a file for a spreadsheet. */
export function CsvButton({ by, days, rows }: { by: Grouping; days: number; rows: readonly UsageLine[] }) {
  const save = (): void => {
    // Excel takes a file without the mark for one in an old encoding.
    const address = URL.createObjectURL(new Blob(['\uFEFF', csvOf(rows)], { type: 'text/csv;charset=utf-8' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `covenant-usage-by-${by}-${days}-days.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <button type="button" className="button ml-auto" onClick={save}>
      CSV
    </button>
  );
}

const COLUMNS: readonly (readonly [string, (row: UsageLine) => string | number | null])[] = [
  ['day', ({ day }) => day],
  ['task_id', ({ task }) => task?.task_id ?? null],
  ['task', ({ task }) => task?.title ?? null],
  ['developer', ({ developer }) => developer],
  ['agent', ({ agent_type }) => agent_type],
  ['model', ({ model }) => model],
  ['reports', ({ spans }) => spans],
  ['input_tokens', ({ input_tokens }) => input_tokens],
  ['cached_input_tokens', ({ cached_input_tokens }) => cached_input_tokens],
  ['cache_creation_tokens', ({ cache_creation_tokens }) => cache_creation_tokens],
  ['output_tokens', ({ output_tokens }) => output_tokens],
  ['reasoning_tokens', ({ reasoning_tokens }) => reasoning_tokens],
  ['sessions', ({ sessions }) => sessions],
  ['cost_usd', ({ cost_usd }) => cost_usd],
  ['reports_without_price', ({ unpriced }) => unpriced],
];

/** By RFC 4180. An unknown cost is an empty cell, never 0. */
const csvOf = (rows: readonly UsageLine[]): string =>
  [COLUMNS.map(([name]) => name), ...rows.map((row) => COLUMNS.map(([, value]) => cell(value(row))))].map((cells) => `${cells.join(',')}\r\n`).join('');

/** Text that a spreadsheet would take for a formula is kept from being one. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
