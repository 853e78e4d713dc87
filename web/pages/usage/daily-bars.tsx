import { useMemo } from 'react';
import { dollars } from '../../parts/cost.ts';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { useRead } from '../../queries.ts';
import type { UsageSearch } from '../../search.ts';
import { barsOf } from './bars.ts';
import { daysOf } from './usage-columns.tsx';

const KEYS = { model: ['day', 'model'], agent: ['day', 'developer', 'agent'] } as const;
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const TOKENS = (tokens: number): string =>
  tokens >= 1e6 ? `${(tokens / 1e6).toLocaleString(undefined, { maximumFractionDigits: 1 })} M` : tokens.toLocaleString();

interface DailyBarsProps {
  search: UsageSearch;
  onChange: (change: { bars?: 'agent' | undefined; measure?: 'tokens' | undefined }) => void;
}

/** What each day took, stacked by model or agent. */
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
          label="Bars of"
          otherwise="cost"
          choices={[['tokens', 'tokens']] as const}
          chosen={search.measure}
          onChoose={(choice) => onChange({ measure: choice })}
        />
        <Filter label="by" otherwise="model" choices={[['agent', 'agent']] as const} chosen={search.bars} onChoose={(choice) => onChange({ bars: choice })} />
        {bars && bars.unpriced > 0 && measure === 'cost' && (
          <span className="text-muted">{counted(bars.unpriced, 'report')} without a known price not drawn</span>
        )}
      </div>
      {usage.error && <Problem what="The days could not be read." error={usage.error} onRetry={() => void usage.refetch()} />}
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
