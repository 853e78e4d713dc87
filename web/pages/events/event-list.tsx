import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useJournal } from '../../live/context.tsx';
import { useFrozen, usePaused } from '../../live/tail.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { Nothing } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import type { EventFilter } from '../../search.ts';
import { EVENT_COLUMNS } from './columns.tsx';
import { Feed, type FeedState, MOST_ROWS } from './feed.ts';

export function EventList({ filter }: { filter: EventFilter }) {
  const { journal, state: live } = useJournal();
  const [feed] = useState(() => new Feed(filter));
  const state = useSyncExternalStore(feed.subscribe, feed.state);
  useEffect(() => {
    if (live.read) feed.follow(live.events);
  }, [feed, live.read, live.events]);
  const isWhole = Object.keys(filter).length === 0;
  const error = live.read ? state.error : live.error;
  return (
    <section aria-label="Events" className="panel mt-3">
      {error && <Problem what="The journal could not be read." error={error} onRetry={live.read ? feed.retry : journal.connect} />}
      {!state.read && !error && <TableSkeleton />}
      {state.read && state.rows.length === 0 && (isWhole ? <NothingYet /> : <NoneFits state={state} />)}
      {state.rows.length > 0 && <Rows state={state} />}
      {state.read && state.from > 1 && <Older state={state} isWhole={isWhole} onOlder={feed.older} />}
      {!isWhole && state.read && (
        <details className="border-t border-line px-3 py-2">
          <summary className="cursor-pointer text-muted">As a command</summary>
          <div className="mt-2">
            <CliCommand words="audit recent" options={filter} />
          </div>
        </details>
      )}
    </section>
  );
}

/** New rows push the old ones down: they wait for who has scrolled. */
function Rows({ state: { rows } }: { state: FeedState }) {
  const paused = usePaused();
  const newest = useFrozen(rows[0]?.seq ?? 0, paused);
  const waiting = rows.findIndex(({ seq }) => seq <= newest);
  const settled = waiting > 0 ? rows.slice(waiting) : rows;
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Events, newest first" columns={EVENT_COLUMNS} rows={settled} rowKey={({ seq }) => seq} />
    </>
  );
}

function NothingYet() {
  return (
    <Nothing>
      <p>Nothing has happened yet. Make a first event:</p>
      <CliCommand words="tools call clock" />
    </Nothing>
  );
}

function NoneFits({ state: { from, to } }: { state: FeedState }) {
  return (
    <Nothing>
      <p>{from > 1 ? `None of the newest ${counted(to - from + 1, 'event')} fits.` : 'No event fits.'}</p>
      <Link to="/activity" className="link">
        Show all events
      </Link>
    </Nothing>
  );
}

/** Comes by itself for who scrolls down, as long as there is more nearby. */
function Older({ state, isWhole, onOlder }: { state: FeedState; isWhole: boolean; onOlder: () => Promise<void> }) {
  const { from, to, rows, full, reading, error } = state;
  if (rows.length >= MOST_ROWS) {
    return (
      <p className="border-t border-line p-3 text-center text-muted">
        This page holds the newest {counted(MOST_ROWS, 'event')}. Narrow it by a filter, or export them all.
      </p>
    );
  }
  return (
    <div className="grid justify-items-center gap-2 border-t border-line p-3 text-muted">
      {/* Another one for each page: an end that stays in sight tells nothing. */}
      {full && error === null && <End key={from} onNear={onOlder} />}
      {!isWhole && (
        <p>
          Looked at {counted(to - from + 1, 'event')}, back to event {from.toLocaleString()}.
        </p>
      )}
      <button type="button" className="button text-text" aria-busy={reading} disabled={reading} onClick={() => void onOlder()}>
        {isWhole ? 'Show older events' : 'Look further back'}
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
