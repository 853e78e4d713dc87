import { getRouteApi, Outlet } from '@tanstack/react-router';
import type { ShownWorkflow } from '../../api.ts';
import { Facts } from '../../parts/facts.tsx';
import { Notice, Scrolled, State } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { escapeBidi, Id, TextList, Time, UntrustedText } from '../../parts/values.tsx';
import { Views } from '../../parts/views.tsx';
import { useRead } from '../../queries.ts';
import { Claims, NextTasks } from './next-tasks.tsx';
import { ProgressBar, StatusCounts } from './progress.tsx';
import { isEnded, statusWords, WORKFLOW_TONES } from './status.ts';
import { statusNotes } from './status-notes.ts';
import { TaskPanel } from './task-panel.tsx';
import { WorkflowActions } from './workflow-actions.tsx';

const route = getRouteApi('/workflows/$workflow');
/** The page polls, because no event reports that a claim has expired. */
const POLL_MS = 15_000;

/** The page about one workflow. It shows which task is next, who is working, and why the workflow is stuck. */
export function WorkflowPage() {
  const { workflow: id } = route.useParams();
  const [{ task }, change] = usePageSearch('/workflows/$workflow');
  const query = useRead('workflows.show', { workflow_id: id }, { pollMs: POLL_MS });
  return (
    <>
      <title>{`${escapeBidi(query.data?.workflow.name ?? 'Workflow')} · Covenant`}</title>
      {!query.data && <h1>Workflow</h1>}
      <Loaded query={query} what="The workflow">
        {(shown) => (
          <>
            <Head shown={shown} />
            <div className="mt-4 grid gap-4 lg:grid-cols-2">
              <NextTasks next={shown.next} ended={isEnded(shown.workflow.status)} />
              <Claims claims={shown.claims} />
            </div>
            <PlanOf workflow={shown.workflow} />
            <Views label="Views of the workflow" views={viewsOf(shown, task)} />
            <Outlet />
          </>
        )}
      </Loaded>
      {task && <TaskPanel key={task} id={task} onClose={() => void change({ task: undefined })} />}
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
            <State tone={WORKFLOW_TONES[workflow.status]}>{statusWords(workflow.status)}</State>
          </h1>
          <p className="flex flex-wrap items-center gap-x-3 text-muted">
            <UntrustedText text={workflow.repository_path} className="mono" />
            <span>
              {workflow.started_at === null ? 'created' : 'started'} <Time at={workflow.started_at ?? workflow.created_at} />
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
      {statusNotes(shown).map(({ tone, words, reason }) => (
        <Notice key={words} tone={tone}>
          <p>{words}</p>
          {reason && <UntrustedText text={reason} />}
        </Notice>
      ))}
    </div>
  );
}

/** Shows the goal and the plan. They are folded, because people who return to the page know them. */
function PlanOf({ workflow: { plan, source_type, source_ref, source_content } }: { workflow: ShownWorkflow['workflow'] }) {
  return (
    <details className="mt-4">
      <summary className="cursor-pointer text-muted pointer-coarse:min-h-11 pointer-coarse:py-3">Goal and plan</summary>
      <div className="panel mt-2 p-3">
        <Facts
          facts={{
            Source: (
              <>
                {source_type.replace('_', ' ')} {source_ref && <UntrustedText text={source_ref} />}
              </>
            ),
            Goal: (
              <Scrolled label="Goal" className="max-h-60">
                <UntrustedText text={source_content} />
              </Scrolled>
            ),
            Plan: plan && <UntrustedText text={plan.summary} />,
            Approach: plan !== null && plan.approach !== '' && <UntrustedText text={plan.approach} />,
            Risks: plan !== null && plan.risks.length > 0 && <TextList texts={plan.risks} />,
            Assumptions: plan !== null && plan.assumptions.length > 0 && <TextList texts={plan.assumptions} />,
          }}
        />
      </div>
    </details>
  );
}
