import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import type { WorkflowTimeline } from '../../api.ts';
import { EmptyState, State } from '../../parts/layout.tsx';
import { Loaded, TableSkeleton } from '../../parts/loaded.tsx';
import { SearchLink } from '../../parts/page-search.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { counted, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { laneName, SPAN_TONES, SPAN_WORDS } from './status.ts';
import { TaskLink } from './task-words.tsx';

const page = getRouteApi('/workflows/$workflow');
const route = getRouteApi('/workflows/$workflow/timeline');
const Lanes = lazy(() => import('./lanes.tsx'));

/** The page that shows which agent worked on which task, and when. */
export function Timeline() {
  const { workflow } = page.useParams();
  const { gaps = false, as } = route.useSearch();
  const query = useRead('workflows.timeline', { workflow_id: workflow });
  return (
    <section aria-label="Timeline" className="grid gap-2">
      <Loaded query={query} what="The timeline">
        {(timeline) =>
          timeline.lanes.length === 0 ? (
            <div className="panel">
              <EmptyState>No agent has claimed a task yet. Claims appear here as bars.</EmptyState>
            </div>
          ) : (
            <>
              <p className="flex flex-wrap gap-x-4 gap-y-1 text-muted">
                <SearchLink set={{ as: as ? undefined : 'table' }} className={SWITCH}>
                  {as ? 'Show as a chart' : 'Show as a table'}
                </SearchLink>
                {!as && (
                  <SearchLink set={{ gaps: gaps ? undefined : true }} className={SWITCH}>
                    {gaps ? 'Fold idle time' : 'Show idle time'}
                  </SearchLink>
                )}
                <Cut timeline={timeline} />
              </p>
              {as ? (
                <SpanTable timeline={timeline} />
              ) : (
                <Suspense fallback={<TableSkeleton />}>
                  <Lanes timeline={timeline} fold={!gaps} />
                </Suspense>
              )}
            </>
          )
        }
      </Loaded>
    </section>
  );
}

const SWITCH = 'link inline-flex items-center pointer-coarse:min-h-11';

function Cut({ timeline: { tasks_more, spans_more } }: { timeline: WorkflowTimeline }) {
  if (tasks_more === 0 && spans_more === 0) return null;
  const left = [tasks_more > 0 && counted(tasks_more, 'older task'), spans_more > 0 && counted(spans_more, 'older claim')];
  return <span>Not shown: {left.filter(Boolean).join(', ')}.</span>;
}

type Row = WorkflowTimeline['lanes'][number]['spans'][number] & { agent: string };

const COLUMNS: readonly Column<Row>[] = [
  { label: 'Task', role: 'title', cell: ({ task_id, task_name }) => <TaskLink id={task_id} name={task_name} /> },
  { label: 'Agent', width: 'sm:w-[18%]', cell: ({ agent }) => <UntrustedText text={agent} brief /> },
  {
    label: 'End',
    width: 'sm:w-44',
    cell: ({ end, reclaimed }) => (
      <span className="flex flex-wrap gap-1">
        <State tone={SPAN_TONES[end]}>{SPAN_WORDS[end]}</State>
        {reclaimed && <State tone="wait">reclaimed</State>}
      </span>
    ),
  },
  { label: 'From', role: 'meta', width: 'sm:w-36', cell: ({ from }) => <Time at={from} /> },
  { label: 'Until', role: 'meta', width: 'sm:w-36', cell: ({ until }) => (until === null ? '—' : <Time at={until} />) },
];

/** Shows the bars of all lanes as a table, newest first. */
function SpanTable({ timeline: { lanes } }: { timeline: WorkflowTimeline }) {
  const rows = useMemo(
    () => lanes.flatMap((lane) => lane.spans.map((span): Row => ({ ...span, agent: laneName(lane) }))).sort((one, other) => other.from - one.from),
    [lanes],
  );
  return (
    <div className="panel">
      <Table label="Claims of tasks, newest first" columns={COLUMNS} rows={rows} rowKey={({ task_id, from }) => `${task_id} ${from}`} />
    </div>
  );
}
