import type { Baseline, Row } from './results.ts';
import type { Rate } from './turns.ts';

export interface BenchmarkReport {
  figure(figure: Omit<Row, 'area' | 'ratio'>): void;
  /** Adds a row for calls per second, with latencies in milliseconds. */
  rate(
    name: string,
    rate: Rate,
    baseline: { readonly name: string; readonly rate: Rate } | { readonly name: string; readonly error: string },
    note?: string,
  ): void;
  /** Shows which measurement is running. */
  step(text: string): void;
  /** Reports a detail that is not in the table. It is printed only if this benchmark was requested by name. */
  detail(name: string, value: number, unit: string): void;
}

export type Benchmark = (report: BenchmarkReport) => Promise<void>;

/** Returns a report that adds the rows of one area to `rows`. */
export function gatherer(area: string, rows: Row[], { step, detail }: Pick<BenchmarkReport, 'step' | 'detail'>): BenchmarkReport {
  const figure: BenchmarkReport['figure'] = (given) => rows.push(rowOf(area, given));
  return {
    figure,
    rate(name, { perSecond, p50, p99 }, baseline, note) {
      const compared: Baseline = 'rate' in baseline ? { name: baseline.name, value: baseline.rate.perSecond, unit: '/s' } : baseline;
      figure({ name, value: perSecond, unit: '/s', p50, p99, baseline: compared, ...(note && { note }) });
    },
    step,
    detail,
  };
}

function rowOf(area: string, { note, ...figure }: Omit<Row, 'area' | 'ratio'>): Row {
  const { baseline, value } = figure;
  const ratio = 'value' in baseline && baseline.value !== 0 ? { ratio: Number((value / baseline.value).toPrecision(3)) } : {};
  return { area, ...figure, ...ratio, ...(note && { note }) };
}
