import type { Baseline, Row } from './results.ts';

/** Shows small values with two significant digits, because rounded values would appear as 0. */
function shown(value: number): string {
  const size = Math.abs(value);
  if (size < 0.1) return value.toLocaleString('en', { maximumSignificantDigits: 2 });
  return value.toLocaleString('en', { maximumFractionDigits: size < 10 ? 2 : size < 1_000 ? 1 : 0 });
}
const withUnit = (value: number, unit: string): string =>
  unit.startsWith('/') || unit === '' || unit === '%' ? `${shown(value)}${unit}` : `${shown(value)} ${unit}`;

const besideOf = (baseline: Baseline): string => ('value' in baseline ? withUnit(baseline.value, baseline.unit) : `could not run: ${baseline.error}`);

/** Returns the cells of one row, for the table on the terminal and for the table in the document. */
export function cellsOf({
  name,
  value,
  unit,
  p50,
  p99,
  baseline,
  ratio,
}: Row): [name: string, ours: string, latency: string, baseline: string, its: string, ratio: string] {
  const latency = [p50, p99].filter((time) => time !== undefined).map(shown);
  return [name, withUnit(value, unit), latency.join(' / '), baseline.name, besideOf(baseline), ratio === undefined ? '–' : shown(ratio)];
}

const HEADS = ['', 'ours', 'p50 / p99 ms', 'baseline', 'its figure', 'ratio'] as const;
const LONGEST = 70;

/** Returns all rows as a table for the terminal, grouped by area. */
export function tableOf(rows: readonly Row[]): string {
  const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
  const lines = rows.map((row) => ({ area: row.area, cells: cellsOf(row).map(cut) }));
  const widths = HEADS.map((head, at) => Math.max(head.length, ...lines.map(({ cells }) => cells[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at === 0 || at === 3 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  const parts = [...Map.groupBy(lines, ({ area }) => area)].flatMap(([area, own]) => ['', `# ${area}`, line(HEADS), ...own.map(({ cells }) => line(cells))]);
  return `${parts.join('\n')}\n\n`;
}
