import type { Benchmark } from './benchmark.ts';
import { CHECKS, ITEMS } from './effort.ts';
import { ENGINES, inChild } from './engine.ts';
import type { OverlapFigures } from './overlap-child.ts';

/**
 * Measures a whole `covibe_task check` (compared, stored, journaled, synced) in workspaces of different sizes, compared with an empty workspace and with a
 * plain full-text search.
 */
export const overlap: Benchmark = async (report) => {
  for (const engine of ENGINES) {
    const measured = (items: number) => {
      report.step(`${engine}, ${items.toLocaleString('en')} items`);
      return inChild<OverlapFigures>('overlap-child.ts', engine, { items, checks: CHECKS });
    };
    const empty = await measured(0);
    for (const items of ITEMS) {
      const { p50, p99, firstMs, incremental, residentMb, found, plainP50, plainPerSecond } = await measured(items);
      const at = `${engine}, ${items.toLocaleString('en')} items`;
      report.figure({ name: `check, ${at}`, value: p50, unit: 'ms', p50, p99, baseline: { name: 'in an empty workspace', value: empty.p50, unit: 'ms' } });
      report.figure({ name: `check, ${at}`, value: p50, unit: 'ms', p50, p99, baseline: { name: 'FTS5, ten best by BM25', value: plainP50, unit: 'ms' } });
      report.figure({
        name: `first check after a restart, ${at}`,
        value: firstMs,
        unit: 'ms',
        baseline: { name: 'later checks', value: p50, unit: 'ms' },
      });
      report.figure({
        name: `items indexed one by one, ${at}`,
        value: incremental,
        unit: '/s',
        baseline: { name: 'inserts into FTS5', value: plainPerSecond, unit: '/s' },
      });
      report.detail(`memory taken by checking, ${at}`, residentMb, 'MB');
      report.detail(`rephrased tasks found, ${at}`, Math.round((100 * found) / (CHECKS / 2)), '%');
    }
  }
};
