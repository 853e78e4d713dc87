import { Link } from '@tanstack/react-router';
import type { ShownWorkflow } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { type StepStatus, said, TASK_TONES } from './status.ts';

type Next = ShownWorkflow['next']['tasks'][number];
const SHOWN = 5;

/** What an agent could take up now, and why it can. */
export function NextTasks({ next, ended }: { next: ShownWorkflow['next']; ended: boolean }) {
  return (
    <Section title="Next" about={next.available > 0 && counted(next.available, 'task can be taken up', 'tasks can be taken up')}>
      <div className="panel">
        {next.tasks.length === 0 && <EmptyState>{ended ? 'Nothing: it has ended.' : 'Nothing can be taken up now.'}</EmptyState>}
        <ul className="divide-y divide-line">
          {next.tasks.slice(0, SHOWN).map((task) => (
            <li key={task.id} data-row data-id={task.id} className="grid gap-0.5 px-3 py-1.5 hover:bg-surface">
              <span className="flex items-start justify-between gap-2">
                <TaskLink id={task.id} name={task.name} />
                {task.status === 'failed' && <State tone="bad">failed</State>}
              </span>
              <span className="text-muted">
                <Why task={task} />
              </span>
            </li>
          ))}
        </ul>
        {next.available > SHOWN && (
          <p className="border-t border-line px-3 py-1.5 text-muted">and {(next.available - Math.min(SHOWN, next.tasks.length)).toLocaleString()} more</p>
        )}
      </div>
    </Section>
  );
}

export function TaskLink({ id, name }: { id: string; name: string }) {
  return (
    <Link to="." search={(search) => ({ ...search, task: id })} resetScroll={false} className="min-w-0 font-medium hover:underline">
      <UntrustedText text={name} brief />
    </Link>
  );
}

function Why({
  task: { status, dependencies_completed: done, dependencies_completed_more: more = 0, parallel_with = [], parallel_with_more = 0 },
}: {
  task: Next;
}) {
  const beside = parallel_with.length + parallel_with_more;
  const others = beside > 0 ? `, beside ${counted(beside, 'other', 'others')} of its group` : '';
  if (status === 'failed') return `It failed, and can be tried again${others}.`;
  if (done.length === 0) return `It waits for nothing${others}.`;
  const rest = done.length - 1 + more;
  return (
    <>
      <UntrustedText text={done[0] ?? ''} /> {rest > 0 ? `and ${counted(rest, 'other')} are` : 'is'} done{others}.
    </>
  );
}

/** Who has what, and until when if nothing more is heard of them. */
export function Claims({ claims }: { claims: ShownWorkflow['claims'] }) {
  return (
    <Section title="At work" about={claims.length > 0 && counted(claims.length, 'claimed task')}>
      <div className="panel max-h-80 overflow-y-auto">
        {claims.length === 0 && <EmptyState>No agent has claimed a task.</EmptyState>}
        <ul className="divide-y divide-line">
          {claims.map((claim) => (
            <li key={claim.task_id} data-row data-id={claim.task_id} className="grid gap-0.5 px-3 py-1.5 hover:bg-surface">
              <span className="flex items-start justify-between gap-2">
                <TaskLink id={claim.task_id} name={claim.task_name} />
                {claim.question_id ? (
                  <State tone="you">asks you</State>
                ) : (
                  <State tone={TASK_TONES[claim.status as StepStatus]}>{said(claim.status as StepStatus)}</State>
                )}
              </span>
              <span className="flex flex-wrap gap-x-2 text-muted">
                <AgentName name={claim.agent_name} id={claim.agent_page} />
                {claim.claimed_at !== null && (
                  <span>
                    for <Time at={claim.claimed_at} />
                  </span>
                )}
                <span>{claim.lease_expires_at === null ? 'lease expired' : <Lease at={claim.lease_expires_at} />}</span>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}

export function Lease({ at }: { at: number }) {
  return (
    <>
      lease ends <Until at={at} />
    </>
  );
}
