import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { call, type WorkflowGraph } from '../../api.ts';
import { EmptyState, Problem } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { counted } from '../../parts/values.tsx';
import { FRAME } from './graph-layout.ts';

const page = getRouteApi('/workflows/$workflow');
/** The code is fetched when a graph is first shown, so that other pages do not load the graph library. */
const Canvas = lazy(() => import('./graph-canvas.tsx'));

/** Shows the tasks of a workflow as a graph. Dependencies are to the left of the tasks that need them. */
export function Graph() {
  const { workflow } = page.useParams();
  const [{ turned = [] }, change] = usePageSearch('/workflows/$workflow/');
  const input = { workflow_id: workflow, turned };
  const { data, error, refetch } = useQuery({
    queryKey: ['workflows.graph', input],
    queryFn: ({ signal }) => call('workflows.graph', input, signal),
    // Keep showing the old graph while the server computes the one with an open group.
    placeholderData: (before) => (before?.workflow_id === workflow ? before : undefined),
  });
  const turn = (key: string): void => {
    const next = turned.includes(key) ? turned.filter((each) => each !== key) : [...turned, key];
    void change({ turned: next.length > 0 ? next : undefined });
  };
  return (
    <section aria-label="Graph" className="grid gap-2">
      {error && <Problem what="The graph could not be loaded." error={error} onRetry={() => void refetch()} />}
      {data?.tasks === 0 && (
        <div className="panel">
          <EmptyState>No tasks yet. They appear when an agent sets the plan.</EmptyState>
        </div>
      )}
      {!data && !error && <Frame />}
      {data && data.tasks > 0 && (
        <>
          <Suspense fallback={<Frame />}>
            <Canvas key={data.workflow_id} graph={data} onTurn={turn} />
          </Suspense>
          <Legend graph={data} />
        </>
      )}
    </section>
  );
}

const Frame = () => (
  <div role="status" aria-label="Loading" className={`${FRAME} p-3`}>
    <div className="skeleton h-full" />
  </div>
);

function Legend({ graph: { workflow_id, folded, tasks, nodes, edges_hidden, critical_length } }: { graph: WorkflowGraph }) {
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-label text-muted">
      {folded && (
        <span>{`${counted(tasks, 'task')}, folded by group into ${counted(nodes.length, 'node')}. Groups with a failed task are shown unfolded.`}</span>
      )}
      {critical_length > 1 && <span>{`Thick line: critical path, ${counted(critical_length, 'task')}.`}</span>}
      {edges_hidden > 0 && <span>{`${counted(edges_hidden, 'dependency', 'dependencies')} not drawn.`}</span>}
      <Link to="/workflows/$workflow/list" params={{ workflow: workflow_id }} className="link">
        Show as a list
      </Link>
    </p>
  );
}
