import { useEffect, useState } from 'react';
import type { News } from '../../api.ts';
import { PanelList, Section, State, type Tone } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { AgentName, PathLink, Time, UntrustedText } from '../../parts/values.tsx';
import { prefer, preferences } from '../../preferences.ts';
import { useRead } from '../../queries.ts';

const TONES: Record<News['news'], Tone> = { finished: 'good', failed: 'bad', decided: 'quiet' };

/** If a person returns within this time, it counts as the same visit, so that a reload does not clear the news. */
const SAME_VISIT_MS = 10 * 60_000;

/** Returns when the previous visit ended. */
function useLastVisit(): number | null {
  const [since] = useState(() => {
    const { lastVisit, newsSince } = preferences();
    return lastVisit !== null && Date.now() - lastVisit > SAME_VISIT_MS ? lastVisit : newsSince;
  });
  useEffect(() => {
    prefer({ newsSince: since });
    const leave = () => prefer({ lastVisit: Date.now() });
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('pagehide', leave);
      leave();
    };
  }, [since]);
  return since;
}

/** Lists what was finished, has failed or was decided since the last visit, newest first. */
export function NewsSinceVisit() {
  const lastVisit = useLastVisit();
  const news = useRead('news.list', lastVisit === null ? {} : { since: lastVisit });
  const { data } = news;
  return (
    <Section
      title={lastVisit === null ? 'Last 24 hours' : 'Since your last visit'}
      about={
        data &&
        (countsOf(data.counts) ||
          (lastVisit !== null && (
            <>
              since <Time at={data.since} />
            </>
          )))
      }
    >
      <Loaded query={news} what="The news">
        {({ items }) => (
          <PanelList items={items} empty="No news. Finished, failed and decided work appears here." label="News" className="max-h-120 overflow-y-auto">
            {(item) => (
              <li key={item.seq} className="grid gap-1 px-3 py-2">
                <p className="flex flex-wrap items-center gap-x-2 text-muted">
                  <State tone={TONES[item.news]}>{item.news}</State>
                  {item.what}
                  <AgentName name={item.by.name} id={item.by.agent_id} brief={false} />
                  <span className="ml-auto">
                    <Time at={item.time} />
                  </span>
                </p>
                <p className="font-medium">
                  <PathLink path={item.path}>
                    <UntrustedText text={item.title} brief />
                  </PathLink>
                </p>
                {item.details && (
                  <p className="text-muted">
                    <UntrustedText text={item.details} brief />
                  </p>
                )}
              </li>
            )}
          </PanelList>
        )}
      </Loaded>
    </Section>
  );
}

const countsOf = (counts: Partial<Record<News['news'], number>>): string =>
  Object.entries(counts)
    .flatMap(([news, count]) => (count > 0 ? [`${count.toLocaleString()} ${news}`] : []))
    .join(', ');
