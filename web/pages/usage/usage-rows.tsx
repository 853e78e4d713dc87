import type { ActionInput, UsageLine } from '../../api.ts';
import { CARD_TITLE, type Column } from '../../parts/table.tsx';
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

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-lg:hidden';

const figure = (label: string, value: (row: UsageLine) => string, wide = 'sm:w-26 lg:w-28'): Column<UsageLine> => ({
  label,
  wide,
  card: `whitespace-nowrap max-sm:order-3 ${PREFIXES[label] ?? ''} ${wide.includes(ROOMY) ? ROOMY : ''}`,
  cell: value,
});

/** Whole names, or the style sheet would not hold them. */
const PREFIXES: Record<string, string> = {
  Input: "max-sm:before:text-muted max-sm:before:content-['in_']",
  Cached: "max-sm:before:text-muted max-sm:before:content-['cached_']",
  Output: "max-sm:before:text-muted max-sm:before:content-['out_']",
  Sessions: "max-sm:before:text-muted max-sm:before:content-['sessions_']",
};

const DAY: Column<UsageLine> = { label: 'Day', wide: 'sm:w-24', card: 'text-muted max-sm:order-4', cell: ({ day }) => day ?? '—' };

const TASK: Column<UsageLine> = {
  label: 'Task',
  card: 'max-sm:order-0 max-sm:w-full max-sm:font-medium',
  cell: ({ task }) =>
    task === null ? (
      <span className="text-muted">No task</span>
    ) : (
      <PathLink path={`/tasks?task=${task.task_id}`}>
        <UntrustedText text={task.title} brief />
      </PathLink>
    ),
};

const FIGURES: readonly Column<UsageLine>[] = [
  figure('Input', ({ input_tokens }) => input_tokens.toLocaleString()),
  figure('Cached', ({ cached_input_tokens }) => cached_input_tokens.toLocaleString(), `lg:w-28 ${ROOMY}`),
  figure('Output', ({ output_tokens }) => output_tokens.toLocaleString()),
  figure('Sessions', ({ sessions }) => (sessions === 0 ? '—' : sessions.toLocaleString()), `lg:w-22 ${ROOMY}`),
  {
    label: 'Cost',
    wide: 'sm:w-20 lg:w-24',
    card: 'font-medium max-sm:order-2 max-sm:w-24 max-sm:self-start max-sm:text-right',
    cell: (row) => <span title={titleOf(row)}>{costWords(row)}</span>,
  },
];

export const usageColumns = (by: Grouping): readonly Column<UsageLine>[] => [
  ...(by === 'day' ? [DAY] : by === 'task' ? [TASK] : []),
  {
    label: by === 'developer' ? 'Developer' : 'Agent',
    wide: by === 'task' ? 'sm:w-[16%]' : '',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: (row) => <AgentName name={whoOf(row)} id={row.agent_id} />,
  },
  {
    label: 'Model',
    wide: by === 'task' ? 'sm:w-[16%]' : '',
    card: 'max-sm:order-3 max-sm:w-full',
    cell: (row) => (row.model === null ? <span className="text-muted">{modelOf(row)}</span> : <UntrustedText text={row.model} brief />),
  },
  ...FIGURES,
];

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
