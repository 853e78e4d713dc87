import type { ShownWorkflow } from '../../api.ts';
import { PanelList, Section, State } from '../../parts/layout.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { type StepStatus, statusWords, TASK_TONES } from './status.ts';
import { Holder, TaskLink } from './task-words.tsx';

type Next = ShownWorkflow['next']['tasks'][number];
const MAX_NEXT = 5;

/** Lists the tasks that an agent could claim now, with the reason. */
export function NextTasks({ next: { tasks, available }, ended }: { next: ShownWorkflow['next']; ended: boolean }) {
  const shown = tasks.slice(0, MAX_NEXT);
  return (
    <Section title="Next" about={available > 0 && counted(available, 'claimable task')}>
      <PanelList
        items={shown}
        empty={ended ? 'None. The workflow has ended.' : 'No claimable tasks.'}
        more={available > MAX_NEXT ? available - shown.length : 0}
      >
        {(task) => (
          <li key={task.id} data-row data-id={task.id} className="grid gap-0.5 px-3 py-1.5 hover:bg-surface">
            <span className="flex items-start justify-between gap-2">
              <TaskLink id={task.id} name={task.name} />
              {task.status === 'failed' && <State tone="bad">failed</State>}
            </span>
            <span className="text-muted">
              <Why task={task} />
            </span>
          </li>
        )}
      </PanelList>
    </Section>
  );
}

function Why({ task }: { task: Next }) {
  const { status, dependencies_completed: done, dependencies_completed_more: more = 0, parallel_with = [], parallel_with_more = 0 } = task;
  const beside = parallel_with.length + parallel_with_more;
  const others = beside > 0 ? ` (${counted(beside, 'other task')} in its group)` : '';
  if (status === 'failed') return `Failed. Can be retried${others}.`;
  if (done.length === 0) return `No dependencies${others}.`;
  const rest = done.length - 1 + more;
  return (
    <>
      <UntrustedText text={done[0] ?? ''} /> {rest > 0 ? `and ${counted(rest, 'other')} are` : 'is'} done{others}.
    </>
  );
}

/** Lists the claimed tasks, with the agents that hold them and how long the claims last. */
export function Claims({ claims }: { claims: ShownWorkflow['claims'] }) {
  return (
    <Section title="In progress" about={claims.length > 0 && counted(claims.length, 'claimed task')}>
      <PanelList items={claims} empty="No claimed tasks." className="max-h-80 overflow-y-auto">
        {(claim) => (
          <li key={claim.task_id} data-row data-id={claim.task_id} className="grid gap-0.5 px-3 py-1.5 hover:bg-surface">
            <span className="flex items-start justify-between gap-2">
              <TaskLink id={claim.task_id} name={claim.task_name} />
              {claim.question_id ? (
                <State tone="you">waiting on you</State>
              ) : (
                <State tone={TASK_TONES[claim.status as StepStatus]}>{statusWords(claim.status as StepStatus)}</State>
              )}
            </span>
            <Holder claim={claim} />
          </li>
        )}
      </PanelList>
    </Section>
  );
}
