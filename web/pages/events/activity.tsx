import { getRouteApi } from '@tanstack/react-router';
import { useJournal } from '../../live/context.tsx';
import { Problem } from '../../parts/problem.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Announcer } from './announcer.tsx';
import { CategoryFilter } from './category-filter.tsx';
import { EventList } from './event-list.tsx';

const route = getRouteApi('/activity');

/** What happened, as it happens. */
export function Activity() {
  const { category } = route.useSearch();
  const { journal, state } = useJournal();
  return (
    <>
      <title>Activity · Covenant</title>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <h1>Activity</h1>
        <CategoryFilter chosen={category} />
      </div>
      <section aria-label="Events" className="panel mt-3">
        {state.read ? (
          <EventList key={category} category={category} />
        ) : state.error ? (
          <Problem what="The journal could not be read." error={state.error} onRetry={journal.connect} />
        ) : (
          <TableSkeleton />
        )}
      </section>
      <Announcer />
    </>
  );
}
