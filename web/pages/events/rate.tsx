import { useMemo } from 'react';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import type { Tone } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { CATEGORIES, type Category } from './category.ts';

const TONES: Record<Category, Tone> = { usage: 'live', work: 'good', feedback: 'wait', audit: 'quiet' };
const SPANS = {
  hour: { minutes: 60, step: 1, title: 'Events per minute' },
  day: { minutes: 24 * 60, step: 15, title: 'Events per quarter of an hour' },
} as const;
/** New minutes begin without an event that would tell. */
const EVERY_MS = 15_000;

/** How much happened when, whatever the list is narrowed to. */
export function Rate({ chart, onChoose }: { chart: 'day' | undefined; onChoose: (chart: 'day' | undefined) => void }) {
  const { minutes, step, title } = SPANS[chart ?? 'hour'];
  const rate = useRead('events.rate', { minutes, step }, { everyMs: EVERY_MS });
  const { data } = rate;
  const series = useMemo(() => data && CATEGORIES.map(([category, label]) => ({ label, tone: TONES[category], values: data.counts[category] ?? [] })), [data]);
  return (
    <Section title={title} about={<Filter label="Of the last" otherwise="hour" choices={[['day', 'day']] as const} chosen={chart} onChoose={onChoose} />}>
      {rate.error && <Problem what="The events could not be counted." error={rate.error} onRetry={() => void rate.refetch()} />}
      {data && series ? (
        <TimeChart label={title} times={data.times} series={series} unit="event" height={96} />
      ) : (
        !rate.error && <div className="skeleton h-36" role="status" aria-label="Loading" />
      )}
    </Section>
  );
}
