import { useEffect, useRef, useState } from 'react';
import type { EventView } from '../../api.ts';
import { useJournal } from '../../live/live-journal.tsx';
import { ActorName } from '../../parts/actor-name.tsx';
import { AsCommand, CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyState } from '../../parts/layout.tsx';
import { SearchLink } from '../../parts/page-search.tsx';
import type { Column } from '../../parts/table.tsx';
import { counted, Id, isId, Time, UntrustedText } from '../../parts/values.tsx';
import type { EventSearch } from '../../search.ts';
import { useSharedValue } from '../../shared-value.ts';
import { durationOf, Outcome, Subject } from './event-words.tsx';
import { Feed, type FeedState, MAX_ROWS } from './feed.ts';

export function EventList({ filter }: { filter: EventSearch }) {
  const { journal, state: live } = useJournal();
  const [feed] = useState(() => new Feed(filter));
  const state = useSharedValue(feed.store);
  useEffect(() => {
    if (live.read) feed.follow(live.events);
  }, [feed, live.read, live.events]);
  const isWhole = Object.keys(filter).length === 0;
  const rows = state.read ? state.rows : undefined;
  const list = live.read ? { rows, error: state.error, refetch: feed.retry } : { rows, error: live.error, refetch: journal.connect };
  return (
    <section aria-label="Events" className="panel mt-3">
      <DataList
        noun="events"
        what="The journal"
        label="Events, newest first"
        list={list}
        columns={EVENT_COLUMNS}
        rowKey={({ seq }) => seq}
        growsAtTop
        empty={isWhole ? <NothingYet /> : <NoneFits state={state} />}
      />
      {state.read && state.from > 1 && <Older state={state} isWhole={isWhole} onOlder={feed.older} />}
      {!isWhole && state.read && (
        <div className="border-t border-line px-3 py-2">
          <AsCommand>
            <CliCommand words="audit recent" options={filter} />
          </AsCommand>
        </div>
      )}
    </section>
  );
}

function NothingYet() {
  return (
    <EmptyState>
      <p>No events yet. Every call appends an event here. To make the first one, run:</p>
      <CliCommand words="tools call clock" />
    </EmptyState>
  );
}

function NoneFits({ state: { from, to } }: { state: FeedState }) {
  return (
    <EmptyState all={{ to: '/activity', label: 'Show all events' }}>
      {from > 1 ? `None of the newest ${counted(to - from + 1, 'event')} matches the filter.` : 'No event matches the filter.'}
    </EmptyState>
  );
}

/** Loads older events when the person scrolls to the end. Stops if the last page was not full, because there are no more events then. */
function Older({ state, isWhole, onOlder }: { state: FeedState; isWhole: boolean; onOlder: () => Promise<void> }) {
  const { from, to, rows, full, reading, error } = state;
  if (rows.length >= MAX_ROWS) {
    return (
      <p className="border-t border-line p-3 text-center text-muted">
        Showing the newest {counted(MAX_ROWS, 'event')}. Use a filter to find older ones, or export all.
      </p>
    );
  }
  return (
    <div className="grid justify-items-center gap-2 border-t border-line p-3 text-muted">
      {/* Each page needs a new element, because an observer does not report an element again while it stays visible. */}
      {full && error === null && <End key={from} onNear={onOlder} />}
      {!isWhole && (
        <p>
          Searched {counted(to - from + 1, 'event')}, back to event {from.toLocaleString()}.
        </p>
      )}
      <button type="button" className="button text-text" aria-busy={reading} disabled={reading} onClick={() => void onOlder()}>
        {isWhole ? 'Show older events' : 'Search older events'}
      </button>
    </div>
  );
}

function End({ onNear }: { onNear: () => Promise<void> }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!end.current) return undefined;
    const near = new IntersectionObserver(([entry]) => entry?.isIntersecting && void onNear(), { rootMargin: '1200px' });
    near.observe(end.current);
    return () => near.disconnect();
  }, [onNear]);
  return <div ref={end} />;
}

const EVENT_COLUMNS: readonly Column<EventView>[] = [
  {
    label: 'Seq',
    role: 'meta',
    width: 'sm:w-18',
    cell: ({ seq }) => (
      <SearchLink
        set={{ event: seq }}
        aria-label={`Event ${seq}`}
        className="mono relative text-live hover:underline pointer-coarse:after:absolute pointer-coarse:after:-inset-3"
      >
        {seq}
      </SearchLink>
    ),
  },
  { label: 'Time', role: 'meta', width: 'sm:w-24 lg:w-28', cell: ({ time }) => <Time at={time} /> },
  { label: 'Category', role: 'meta', from: 'lg', width: 'lg:w-20', cell: ({ category }) => category },
  { label: 'Kind', role: 'title', cell: ({ kind }) => <UntrustedText text={kind} brief /> },
  { label: 'Actor', width: 'sm:w-[17%]', prefix: 'by', cell: ({ actor }) => <ActorName actor={actor} /> },
  { label: 'Subject', width: 'sm:w-[18%]', prefix: 'on', cell: ({ subject }) => (subject === null ? '—' : <Subject subject={subject} />) },
  { label: 'Outcome', role: 'state', width: 'sm:w-28', cell: (event) => <Outcome event={event} /> },
  { label: 'Duration', role: 'none', from: '2xl', width: 'sm:w-20', cell: durationOf },
  {
    label: 'Session',
    role: 'none',
    from: '2xl',
    width: 'sm:w-30',
    cell: ({ session }) => (session === null ? '—' : isId(session) ? <Id id={session} /> : <UntrustedText text={session} brief />),
  },
];
