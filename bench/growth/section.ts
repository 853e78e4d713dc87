import { ENGINES } from '../engine.ts';
import { type Figure, SIZES } from './figures.ts';
import { A_DAY } from './history.ts';
import { AREAS } from './operations.ts';

export const sizeName = (size: number): string => (size >= 1_000_000 ? `${size / 1_000_000}M` : `${size / 1_000}k`);

/** The section of docs/benchmarks.md, without its heading. */
export function sectionOf(figures: readonly Figure[]): string {
  const columns = ENGINES.flatMap((engine) =>
    SIZES.filter((size) => figures.some((each) => each.engine === engine && each.size === size)).map((size) => ({ engine, size })),
  );
  const cell = (operation: string, { engine, size }: (typeof columns)[number]) =>
    figures.find((each) => each.operation === operation && each.engine === engine && each.size === size)?.p50_ms ?? '';
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  const parts = [
    `The same operations with 1,000 to 1,000,000 tasks, and as many events, in the store. The data is the history of a team that does ${A_DAY.toLocaleString('en')} tasks a day. ` +
      'At most 2,000 tasks are open. Figures are median milliseconds. Operations with a journal entry wait for the disk; “a no-op call” shows that base cost. ' +
      'An operation marked * must read or count all data.',
  ];
  for (const area of AREAS) {
    const names = new Map(figures.filter((each) => each.area === area).map(({ operation, whole }) => [operation, whole]));
    if (names.size === 0) continue;
    const rows = [...names].map(([operation, whole]) => line([`${operation}${whole ? ' *' : ''}`, ...columns.map((column) => cell(operation, column))]));
    const head = line(['', ...columns.map(({ engine, size }) => `${engine} ${sizeName(size)}`)]);
    parts.push(`![${area}: time by size](benchmarks/growth-${area}.svg)`, [head, line(['---', ...columns.map(() => '---:')]), ...rows].join('\n'));
  }
  return parts.join('\n\n');
}
