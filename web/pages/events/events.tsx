import { type ReactNode, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { useJournal } from '../../live/live-journal.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Problem, Section, type Tone } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { useRead } from '../../queries.ts';
import { eventFilter } from '../../search.ts';
import { ChainStrip } from './chain-state.tsx';
import { EventFilters } from './event-filters.tsx';
import { EventList } from './event-list.tsx';
import { EventPanel } from './event-panel.tsx';
import { CATEGORIES, type Category } from './event-words.tsx';

/** The page that lists the journal's events and adds new ones as they happen. */
export function Events() {
  const [search, change] = usePageSearch('/activity/');
  const filter = eventFilter({ ...search });
  return (
    <>
      <title>Activity · Covenant</title>
      <Pictures>
        <Rate chart={search.chart} onChoose={(chart) => void change({ chart })} />
        <ChainStrip />
      </Pictures>
      <EventFilters filter={filter} onChange={(part) => void change(part, { replace: true })} />
      <EventList key={JSON.stringify(filter)} filter={filter} />
      {search.event !== undefined && <EventPanel key={search.event} seq={search.event} onClose={() => void change({ event: undefined })} />}
      <Announcer />
    </>
  );
}

/** On a small screen, the charts are hidden until the person opens them, so that the list is visible first. */
function Pictures({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState(false);
  return (
    <>
      <button type="button" className="button mb-3 sm:hidden" aria-expanded={shown} onClick={() => setShown(!shown)}>
        {shown ? 'Hide charts' : 'Show charts'}
      </button>
      <div className={`grid gap-x-6 gap-y-3 lg:grid-cols-[minmax(0,1fr)_20rem] ${shown ? '' : 'max-sm:hidden'}`}>{children}</div>
    </>
  );
}

const TONES: Record<Category, Tone> = { usage: 'live', work: 'good', feedback: 'wait', audit: 'quiet' };
const SPANS = {
  hour: { minutes: 60, step: 1, title: 'Events per minute' },
  day: { minutes: 24 * 60, step: 15, title: 'Events per 15 minutes' },
} as const;
/** The chart polls, because it must move on when a new minute begins, even without an event. */
const POLL_MS = 15_000;

/** A chart of the number of events over time. The filters of the list do not apply to it. */
function Rate({ chart, onChoose }: { chart: 'day' | undefined; onChoose: (chart: 'day' | undefined) => void }) {
  const { minutes, step, title } = SPANS[chart ?? 'hour'];
  const rate = useRead('events.rate', { minutes, step }, { pollMs: POLL_MS });
  const { data } = rate;
  const series = useMemo(() => data && CATEGORIES.map(([category, label]) => ({ label, tone: TONES[category], values: data.counts[category] ?? [] })), [data]);
  return (
    <Section title={title} about={<Filter label="Period" otherwise="last hour" choices={[['day', 'last day']] as const} chosen={chart} onChoose={onChoose} />}>
      {rate.error && <Problem what="The chart could not be loaded." error={rate.error} onRetry={() => void rate.refetch()} />}
      {data && series ? (
        <TimeChart label={title} times={data.times} series={series} unit="event" height={96} />
      ) : (
        !rate.error && <div className="skeleton h-36" role="status" aria-label="Loading" />
      )}
    </Section>
  );
}

const ANNOUNCE_MS = 5_000;

/** Tells screen readers how many new events there are, at most once every few seconds. */
function Announcer() {
  const newest = useJournal().state.events.at(-1)?.seq ?? 0;
  const [announced, setAnnounced] = useState({ upTo: newest, words: '' });
  const announce = useEffectEvent(() => {
    if (announced.upTo === newest) return;
    const count = newest - announced.upTo;
    // Events that were loaded first are not announced as new.
    setAnnounced({ upTo: newest, words: announced.upTo === 0 ? '' : `${count} new ${count === 1 ? 'event' : 'events'}` });
  });
  useEffect(() => {
    const timer = setInterval(announce, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p role="status" className="sr-only">
      {announced.words}
    </p>
  );
}
