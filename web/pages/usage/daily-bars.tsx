import { useMemo } from 'react';
import type { UsageLine } from '../../api.ts';
import { dollars } from '../../parts/cost.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem, Section, type Tone } from '../../parts/layout.tsx';
import { type Series, TimeChart } from '../../parts/time-chart.tsx';
import { counted } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import type { UsageSearch } from '../../search.ts';
import { daysOf, modelOf, whoOf } from './usage-rows.tsx';

const KEYS = { model: ['day', 'model'], agent: ['day', 'developer', 'agent'] } as const;
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const TOKENS = (tokens: number): string =>
  tokens >= 1e6 ? `${(tokens / 1e6).toLocaleString(undefined, { maximumFractionDigits: 1 })} M` : tokens.toLocaleString();

interface DailyBarsProps {
  search: UsageSearch;
  onChange: (change: { bars?: 'agent' | undefined; measure?: 'tokens' | undefined }) => void;
}

/** A chart of the cost or tokens of each day. The bars are stacked by model or agent. */
export function DailyBars({ search, onChange }: DailyBarsProps) {
  const { bars: of = 'model', measure = 'cost' } = search;
  const days = daysOf(search);
  const usage = useRead('usage.list', { days, by: [...KEYS[of]], limit: 5_000 });
  const bars = useMemo(() => usage.data && barsOf(usage.data.items, { days, of, measure, now: Date.now() }), [usage.data, days, of, measure]);
  const title = measure === 'cost' ? 'Cost per day' : 'Tokens per day';
  return (
    <Section title={title}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter
          label="Show"
          otherwise="cost"
          choices={[['tokens', 'tokens']] as const}
          chosen={search.measure}
          onChoose={(choice) => onChange({ measure: choice })}
        />
        <Filter label="by" otherwise="model" choices={[['agent', 'agent']] as const} chosen={search.bars} onChoose={(choice) => onChange({ bars: choice })} />
        {bars && bars.unpriced > 0 && measure === 'cost' && (
          <span className="text-muted">Not drawn: {counted(bars.unpriced, 'report')} without a known price</span>
        )}
      </div>
      {usage.error && <Problem what="The chart could not be loaded." error={usage.error} onRetry={() => void usage.refetch()} />}
      {bars ? (
        <TimeChart
          label={title}
          times={bars.times}
          series={bars.series}
          unit={measure === 'cost' ? dollars : TOKENS}
          nameOf={(time) => DAY.format(time)}
          height={180}
        />
      ) : (
        !usage.error && <div className="skeleton h-52" role="status" aria-label="Loading" />
      )}
    </Section>
  );
}

/** The colours of the largest series. All other series share one colour. */
const TONES: readonly Tone[] = ['live', 'good', 'wait', 'you', 'bad'];
const DAY_MS = 86_400_000;

interface BarsOptions {
  days: number;
  of: 'model' | 'agent';
  measure: 'cost' | 'tokens';
  now: number;
}

interface Bars {
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** The number of reports for which no price is known. */
  readonly unpriced: number;
}

/** Computes a bar for each day of the period, including days without usage. Days are in UTC, as on the server. */
function barsOf(rows: readonly UsageLine[], { days, of, measure, now }: BarsOptions): Bars {
  const last = Math.floor(now / DAY_MS);
  const names = Array.from({ length: days }, (_, index) => dayName(last - days + 1 + index));
  const places = new Map(names.map((name, index) => [name, index]));
  const lines = new Map<string, number[]>();
  for (const row of rows) {
    const place = places.get(row.day ?? '');
    const value = measure === 'cost' ? (row.cost_usd ?? 0) : row.total_tokens;
    if (place === undefined || value === 0) continue;
    const label = of === 'model' ? modelOf(row) : whoOf(row);
    const line = lines.get(label) ?? names.map(() => 0);
    line[place] = (line[place] ?? 0) + value;
    lines.set(label, line);
  }
  return { times: names.map(localMidnight), series: seriesOf(lines), unpriced: rows.reduce((sum, row) => sum + row.unpriced, 0) };
}

function seriesOf(lines: ReadonlyMap<string, readonly number[]>): Series[] {
  const all = [...lines].map(([label, values]) => ({ label, values, sum: total(values) })).sort((one, other) => other.sum - one.sum);
  const series = all.slice(0, TONES.length).map(({ label, values }, index): Series => ({ label, values, tone: TONES[index] ?? 'quiet' }));
  const others = all.slice(TONES.length);
  const [only] = others;
  if (!only) return series;
  if (others.length === 1) return [...series, { label: only.label, values: only.values, tone: 'quiet' }];
  const values = others.map((each) => each.values).reduce((sums, each) => sums.map((sum, index) => sum + (each[index] ?? 0)));
  return [...series, { label: `${others.length} others`, values, tone: 'quiet' }];
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const dayName = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Converts a UTC day from the server to midnight in local time, because the axis shows local dates. */
function localMidnight(name: string): number {
  const [year = 0, month = 1, day = 1] = name.split('-').map(Number);
  return new Date(year, month - 1, day).getTime();
}
