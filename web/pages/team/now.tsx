import { getRouteApi } from '@tanstack/react-router';
import { nowSearch } from '../../search.ts';
import { AgentLanes } from './agent-lanes.tsx';
import { Agents } from './agents.tsx';
import { FirstSteps } from './first-steps.tsx';
import { NewsSinceVisit } from './news.tsx';
import { useNotices } from './notices.tsx';
import { useWaiting } from './waiting.ts';
import { WaitingList } from './waiting-list.tsx';
import { WaitingPanel } from './waiting-panel.tsx';

const route = getRouteApi('/');

/** The page Now: what waits for the person, who is working, and what has changed. */
export function Now() {
  const waiting = useWaiting();
  const opened = route.useSearch();
  useNotices(waiting.items, waiting.isRead);
  return (
    <>
      <title>{waiting.items.length > 0 ? `(${waiting.items.length}) Now · Covenant` : 'Now · Covenant'}</title>
      <h1>Now</h1>
      <div className="mt-3 grid gap-x-6 gap-y-7 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <div className="grid content-start gap-7">
          <FirstSteps />
          <WaitingList {...waiting} isOpen={Object.keys(nowSearch({ ...opened })).length > 0} />
        </div>
        <NewsSinceVisit />
        <div className="grid gap-7 xl:col-span-2">
          <Agents />
          <AgentLanes />
        </div>
      </div>
      <WaitingPanel opened={opened} {...waiting} />
    </>
  );
}
