import { invalidInput } from '../../../kernel/input.ts';
import { attributeCounter, attributesOf, numbered } from './otlp.ts';
import { each, inside, type UsagePlace, wholeNumber } from './place.ts';
import { toSpan, type UsageSpan } from './span.ts';

type Part = 'input' | 'output' | 'cached' | 'creation';

/** What a data point counts, by the attribute that tells. */
const PARTS: ReadonlyMap<unknown, Part> = new Map([
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cached'],
  ['cacheCreation', 'creation'],
]);

const METRICS: ReadonlyMap<unknown, { kind: string; model: readonly string[] }> = new Map([
  ['gen_ai.client.token.usage', { kind: 'gen_ai.token.type', model: ['gen_ai.response.model', 'gen_ai.request.model'] }],
  ['claude_code.token.usage', { kind: 'type', model: ['model'] }],
]);

/** OTLP's number for sums that go on from export to export. */
const CUMULATIVE = [2, 'AGGREGATION_TEMPORALITY_CUMULATIVE'];

/** Counters as metrics: one span for each model. */
export function otelMetrics(payload: UsagePlace): UsageSpan[] {
  const metrics = each(payload, 'resourceMetrics').flatMap((resource) => each(resource, 'scopeMetrics').flatMap((scope) => each(scope, 'metrics')));
  const sums = new Map<unknown, { path: string } & Partial<Record<Part, number>>>();
  for (const metric of numbered(metrics, 'metrics')) {
    const names = METRICS.get(metric.value.name);
    const data = inside(metric, 'sum') ?? inside(metric, 'histogram');
    if (!names || !data) continue;
    if (CUMULATIVE.includes(data.value.aggregationTemporality as never)) {
      throw invalidInput([{ field: `${data.path}.aggregationTemporality`, message: 'expected delta: cumulative sums cannot be added up' }]);
    }
    for (const point of each(data, 'dataPoints')) {
      const attributes = attributesOf(point);
      const part = PARTS.get(attributes.value[names.kind]);
      if (!part) continue;
      const model = names.model.map((name) => attributes.value[name]).find((name) => name !== undefined) ?? null;
      const sum = sums.get(model) ?? { path: attributes.path };
      sums.set(model, { ...sum, [part]: wholeNumber((sum[part] ?? 0) + amountOf(point), attributes.path) });
    }
  }
  return [...sums].map(([model, { path, input, output, cached, creation }]) => {
    return toSpan({ path, model, input, output, cached, creation, caches: 'beside' });
  });
}

const amountOf = (point: UsagePlace): number => attributeCounter(point, ['asInt', 'asDouble', 'sum']) ?? 0;
