import { type ComponentType, lazy, Suspense } from 'react';
import { FILLS, type Tone } from './layout.tsx';
import { TwinTable } from './twin-table.tsx';
import { counted, dateOf, UntrustedText } from './values.tsx';

export interface Series {
  readonly label: string;
  readonly tone: Tone;
  /** One value for each of `times`. */
  readonly values: readonly number[];
}

export interface TimeChartProps {
  label: string;
  /** The times of the bars in milliseconds since 1970, evenly spaced and in ascending order. */
  times: readonly number[];
  /** The series are stacked. The first one is at the bottom. */
  series: readonly Series[];
  /** The unit of the values in the singular, such as "call". A function formats values with other units, such as money. */
  unit: string | ((value: number) => string);
  height?: number;
  /** Returns the name of a bar in the table. By default, it is the date and time of the bar. */
  nameOf?: (time: number) => string;
}

const NoPlot = () => <p className="text-label text-muted">This browser cannot draw the chart. See the table below.</p>;

/** If the library cannot draw the chart, as happens in some locales, a text is shown instead, so that the page still works. */
const Plot = lazy<ComponentType<TimeChartProps>>(() => import('./plot.tsx').catch(() => ({ default: NoPlot })));
const HEIGHT = 140;

/** A bar chart over time. A table below it contains the same numbers. */
export function TimeChart(props: TimeChartProps) {
  const { label, times, series, unit, height = HEIGHT, nameOf = dateOf } = props;
  const valueWords = (value: number) => (typeof unit === 'string' ? counted(value, unit) : unit(value));
  const named = times.map((time, index) => ({ time, values: series.map(({ values }) => values[index] ?? 0) })).filter(({ values }) => values.some(Boolean));
  return (
    <figure className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <figcaption className="flex flex-wrap items-baseline gap-x-4 text-label text-muted">
        {series.map((each) => (
          <span key={each.label} className="flex items-center gap-1.5">
            <span aria-hidden="true" className={`size-2.5 rounded-xs ${FILLS[each.tone]}`} />
            <UntrustedText text={each.label} brief />
          </span>
        ))}
      </figcaption>
      <div aria-hidden="true" style={{ height }}>
        <Suspense fallback={<div className="skeleton h-full" />}>
          <Plot {...props} height={height} />
        </Suspense>
      </div>
      <TwinTable
        title={label}
        heads={['Time', ...series.map((each) => <UntrustedText key={each.label} text={each.label} brief />)]}
        rows={named.map(({ time, values }) => ({ key: time, cells: [nameOf(time), ...values.map(valueWords)] }))}
        empty="No data in this period."
      />
    </figure>
  );
}
