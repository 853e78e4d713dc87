import type { UsageLine } from '../../api.ts';
import type { Grouping } from './usage-rows.tsx';

/** A button that downloads the visible rows as a file for a spreadsheet. */
export function CsvButton({ by, days, rows }: { by: Grouping; days: number; rows: readonly UsageLine[] }) {
  const save = (): void => {
    // Without a byte order mark at the beginning, Excel would assume an old encoding.
    const address = URL.createObjectURL(new Blob(['\uFEFF', csvOf(rows)], { type: 'text/csv;charset=utf-8' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `covenant-usage-by-${by}-${days}-days.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return (
    <button type="button" className="button ml-auto" onClick={save}>
      Download CSV
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

/** Converts the rows to CSV as defined in RFC 4180. An unknown cost becomes an empty cell, not 0. */
const csvOf = (rows: readonly UsageLine[]): string =>
  [COLUMNS.map(([name]) => name), ...rows.map((row) => COLUMNS.map(([, value]) => cell(value(row))))].map((cells) => `${cells.join(',')}\r\n`).join('');

/** Formats one cell. Text that a spreadsheet would treat as a formula is escaped. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
