import { ENGINES, inChild } from './engine.ts';
import type { Figures } from './overlap-child.ts';
import type { Benchmark } from './run.ts';

/** `BENCH_ITEMS=1000,10000` for a shorter run. */
const SIZES = (process.env.BENCH_ITEMS ?? '1000,10000,100000,1000000').split(',').map(Number);
const CHECKS = Number(process.env.BENCH_CHECKS ?? 300);

/** A whole `covibe_task check` (compared, stored, journaled, synced) in a growing workspace, beside one that is empty. */
export const overlap: Benchmark = {
  name: 'overlap',
  async run(report) {
    for (const engine of ENGINES) {
      const measured = (items: number) => inChild<Figures>('overlap-child.ts', engine, { items, checks: CHECKS });
      const empty = await measured(0);
      report.figure(`${engine}: check in an empty workspace, p50`, empty.p50, 'ms');
      for (const items of SIZES) {
        const figures = await measured(items);
        const name = `${engine}: ${items.toLocaleString('en')} items`;
        report.figure(`${name}, check p50`, figures.p50, `ms (${(figures.p50 / empty.p50).toFixed(1)} × empty)`);
        report.figure(`${name}, check p99`, figures.p99, 'ms');
        report.figure(`${name}, first check after a restart`, figures.firstMs, 'ms');
        report.figure(`${name}, added one by one`, figures.incremental, 'items/s');
        report.figure(`${name}, memory taken by checking`, figures.residentMb, 'MB');
        report.figure(`${name}, rephrased tasks found`, Math.round((100 * figures.found) / (CHECKS / 2)), '%');
      }
    }
  },
};
