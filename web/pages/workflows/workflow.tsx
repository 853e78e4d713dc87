import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router';
import type { ShownWorkflow } from '../../api.ts';
import { Id } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice, State } from '../../parts/tone.tsx';
import { Views } from '../../parts/views.tsx';
import { useRead } from '../../queries.ts';
import { Claims, NextTasks } from './next-tasks.tsx';
import { PlanOf } from './plan.tsx';
import { ProgressBar, StatusCounts } from './progress.tsx';
import { standingOf } from './standing.ts';
import { isEnded, said, WORKFLOW_TONES } from './status.ts';
import { TaskPanel } from './task-panel.tsx';
import { WorkflowActions } from './workflow-actions.tsx';

const route = getRouteApi('/workflows/$workflow');
/** Leases run out by time alone. */
const LOOK_MS = 15_000;

/** What is next, who has it, why does it stand? */
export function WorkflowPage() {
  const { workflow: id } = route.useParams();
  const { task } = route.useSearch();
  const navigate = useNavigate();
  const { data, error, refetch } = useRead('workflows.show', { workflow_id: id }, { everyMs: LOOK_MS });
  return (
    <>
      <title>{`${escapeBidi(data?.workflow.name ?? 'Workflow')} · Covenant`}</title>
      {data ? <Head shown={data} /> : <h1>Workflow</h1>}
      {error && <Problem what="The workflow could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && (
        <>
          <div className="mt-4 grid gap-4 lg:grid-cols-2">
            <NextTasks next={data.next} ended={isEnded(data.workflow.status)} />
            <Claims claims={data.claims} />
          </div>
          <PlanOf workflow={data.workflow} />
          <Views label="Views of the workflow" views={viewsOf(data, task)} />
          <Outlet />
        </>
      )}
      {task && (
        <TaskPanel key={task} id={task} onClose={() => void navigate({ to: '.', search: (search) => ({ ...search, task: undefined }), resetScroll: false })} />
      )}
    </>
  );
}

function viewsOf({ workflow, progress }: ShownWorkflow, task: string | undefined) {
  const place = { params: { workflow: workflow.id }, search: task ? { task } : {} };
  return [
    { ...place, to: '/workflows/$workflow', label: 'Graph' },
    { ...place, to: '/workflows/$workflow/timeline', label: 'Timeline' },
    { ...place, to: '/workflows/$workflow/list', label: 'List', count: progress.total_tasks },
  ] as const;
}

function Head({ shown }: { shown: ShownWorkflow }) {
  const { workflow, progress } = shown;
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="grid min-w-0 gap-1">
          <h1 className="flex flex-wrap items-center gap-x-3">
            <UntrustedText text={workflow.name} />
            <State tone={WORKFLOW_TONES[workflow.status]}>{said(workflow.status)}</State>
          </h1>
          <p className="flex flex-wrap items-center gap-x-3 text-muted">
            <span className="mono">
              <UntrustedText text={workflow.repository_path} />
            </span>
            <span>
              {workflow.started_at === null ? 'made' : 'begun'} <Time at={workflow.started_at ?? workflow.created_at} />
            </span>
            <Id id={workflow.id} />
          </p>
        </div>
        <WorkflowActions shown={shown} />
      </div>
      {progress.total_tasks > 0 && (
        <div className="grid gap-1.5">
          <ProgressBar counts={progress.by_status} />
          <StatusCounts workflow={workflow.id} counts={progress.by_status} />
        </div>
      )}
      {standingOf(shown).map(({ tone, words, reason }) => (
        <Notice key={words} tone={tone}>
          <p>{words}</p>
          {reason && <UntrustedText text={reason} />}
        </Notice>
      ))}
    </div>
  );
}
