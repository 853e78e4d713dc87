import { type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import { AggregationTemporality, type DataPoint, DataPointType, type Histogram, type MetricData, type MetricProducer } from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { VERSION } from '../../version.ts';
import type { Metrics } from '../http/metrics.ts';

type Series = MetricObjectWithValues<MetricValue<string>>;
type Value = Series['values'][number] & { readonly metricName?: string };

/** Exports the counters of `/metrics` as OTLP. */
export function metricsBridge(metrics: Pick<Metrics, 'values'>): MetricProducer {
  const startTime = millisToHrTime(Date.now());
  return {
    async collect() {
      const endTime = millisToHrTime(Date.now());
      const told = (await metrics.values()).flatMap((series) => asMetric(series, { startTime, endTime }) ?? []);
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: { name: 'covenant', version: VERSION }, metrics: told }] }, errors: [] };
    },
  };
}

interface Times {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

function asMetric(series: Series, times: Times): MetricData | undefined {
  const { name, help, values } = series;
  const told = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = (): DataPoint<number>[] => values.map(({ value, labels }) => ({ ...times, attributes: { ...labels }, value }));
  // The types of prom-client declare numbers here, but at run time the values are strings.
  switch (String(series.type)) {
    case 'counter':
      return { ...told, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    case 'gauge':
      return { ...told, dataPointType: DataPointType.GAUGE, dataPoints: points() };
    case 'histogram':
      return { ...told, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(name, values, times) };
    default:
      return undefined;
  }
}

/** Converts histograms. The count of a Prometheus bucket includes all smaller buckets, but the count of an OTLP bucket does not. */
function histograms(name: string, values: readonly Value[], times: Times): DataPoint<Histogram>[] {
  const byLabels = new Map<string, { labels: Record<string, string | number>; buckets: [number, number][]; sum: number; count: number }>();
  for (const { metricName, labels, value } of values) {
    const { le, ...own } = labels as Record<string, string | number>;
    const key = JSON.stringify(own);
    const found = byLabels.get(key) ?? { labels: own, buckets: [], sum: 0, count: 0 };
    byLabels.set(key, found);
    if (metricName === `${name}_sum`) found.sum = value;
    else if (metricName === `${name}_count`) found.count = value;
    else if (le !== '+Inf') found.buckets.push([Number(le), value]);
  }
  return [...byLabels.values()].map(({ labels, buckets, sum, count }) => {
    const sorted = buckets.sort(([a], [b]) => a - b);
    const upTo = [...sorted.map(([, counted]) => counted), count];
    const counts = upTo.map((counted, place) => counted - (upTo[place - 1] ?? 0));
    return { ...times, attributes: labels, value: { buckets: { boundaries: sorted.map(([edge]) => edge), counts }, sum, count } };
  });
}
