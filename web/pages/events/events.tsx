import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type ActivitySearch, eventFilter } from '../../search.ts';
import { Announcer } from './announcer.tsx';
import { ChainStrip } from './chain-strip.tsx';
import { EventFilters } from './event-filters.tsx';
import { EventList } from './event-list.tsx';
import { EventPanel } from './event-panel.tsx';
import { Rate } from './rate.tsx';

const route = getRouteApi('/activity/');

/** What happened, as it happens. */
export function Events() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const filter = eventFilter({ ...search });
  const show = (change: Partial<Record<keyof ActivitySearch, unknown>>, replace = false): void =>
    void navigate({ to: '/activity', search: (all) => ({ ...all, ...change }) as ActivitySearch, replace, resetScroll: false });
  return (
    <>
      <title>Activity · Covenant</title>
      <Pictures>
        <Rate chart={search.chart} onChoose={(chart) => show({ chart })} />
        <ChainStrip />
      </Pictures>
      <EventFilters filter={filter} onChange={(change) => show(change, true)} />
      <EventList key={JSON.stringify(filter)} filter={filter} />
      {search.event !== undefined && <EventPanel key={search.event} seq={search.event} onClose={() => show({ event: undefined })} />}
      <Announcer />
    </>
  );
}

/** On a small screen the list comes first: they are shown on request. */
function Pictures({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState(false);
  return (
    <>
      <button type="button" className="button mb-3 sm:hidden" aria-expanded={shown} onClick={() => setShown(!shown)}>
        {shown ? 'Hide' : 'Show'} events per minute and chain
      </button>
      <div className={`grid gap-x-6 gap-y-3 lg:grid-cols-[minmax(0,1fr)_20rem] ${shown ? '' : 'max-sm:hidden'}`}>{children}</div>
    </>
  );
}
