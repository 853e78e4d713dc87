import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { WorkflowTimeline } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { EmptyState } from '../../parts/section.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import { SpanTable } from './span-table.tsx';

const page = getRouteApi('/workflows/$workflow');
const route = getRouteApi('/workflows/$workflow/timeline');
const Lanes = lazy(() => import('./lanes.tsx'));

/** Who did what when. */
export function Timeline() {
  const { workflow } = page.useParams();
  const { gaps = false, as } = route.useSearch();
  const { data, error, refetch } = useRead('workflows.timeline', { workflow_id: workflow });
  const empty = data?.lanes.length === 0;
  return (
    <section aria-label="Timeline" className="grid gap-2">
      {error && <Problem what="The timeline could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {empty && (
        <div className="panel">
          <EmptyState>No agent has taken up a task of it yet.</EmptyState>
        </div>
      )}
      {data && !empty && (
        <>
          <p className="flex flex-wrap gap-x-4 gap-y-1 text-muted">
            <Link to="." search={(search) => ({ ...search, as: as ? undefined : 'table' })} className="link inline-flex items-center pointer-coarse:min-h-11">
              {as ? 'Show the picture' : 'Show as a table'}
            </Link>
            {!as && (
              <Link
                to="."
                search={(search) => ({ ...search, gaps: gaps ? undefined : true })}
                className="link inline-flex items-center pointer-coarse:min-h-11"
              >
                {gaps ? 'Fold idle times' : 'Draw idle times in full'}
              </Link>
            )}
            <Cut timeline={data} />
          </p>
          {as ? (
            <SpanTable timeline={data} />
          ) : (
            <Suspense fallback={<TableSkeleton />}>
              <Lanes timeline={data} fold={!gaps} />
            </Suspense>
          )}
        </>
      )}
    </section>
  );
}

function Cut({ timeline: { tasks_more, spans_more } }: { timeline: WorkflowTimeline }) {
  if (tasks_more === 0 && spans_more === 0) return null;
  const left = [
    tasks_more > 0 && counted(tasks_more, 'task that changed earlier', 'tasks that changed earlier'),
    spans_more > 0 && counted(spans_more, 'earlier time', 'earlier times'),
  ];
  return <span>Not shown: {left.filter(Boolean).join(', ')}.</span>;
}
