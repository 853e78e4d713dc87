import { ENGINES } from '../engine.ts';
import { type Figure, SIZES } from './figures.ts';
import { A_DAY } from './history.ts';
import { AREAS } from './operations.ts';

export const sizeName = (size: number): string => (size >= 1_000_000 ? `${size / 1_000_000}M` : `${size / 1_000}k`);

/** Returns the section of docs/benchmarks.md about growth, without its heading. */
export function sectionOf(figures: readonly Figure[]): string {
  const columns = ENGINES.flatMap((engine) =>
    SIZES.filter((size) => figures.some((each) => each.engine === engine && each.size === size)).map((size) => ({ engine, size })),
  );
  const cell = (operation: string, { engine, size }: (typeof columns)[number]) =>
    figures.find((each) => each.operation === operation && each.engine === engine && each.size === size)?.p50_ms ?? '';
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  const parts = [
    `The same operations are measured on stores with 1,000 to 1,000,000 tasks and as many events. The data is the history of a team that completes ${A_DAY.toLocaleString('en')} tasks a day. ` +
      'At most 2,000 tasks are open. Figures are median milliseconds. An operation that writes a journal entry waits for the disk; “a no-op call” shows how long that takes. ' +
      'An operation with * has to read or count all data, so its time may grow with the store.',
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
