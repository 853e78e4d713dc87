import { Link } from '@tanstack/react-router';
import type { Task } from '../../api.ts';
import { ConfirmAction, REASON } from '../../parts/actions.tsx';
import type { FactValues } from '../../parts/facts.tsx';
import { NameList, State } from '../../parts/layout.tsx';
import { ReadPanel, type RowPanelProps } from '../../parts/side-panel.tsx';
import { AgentName, counted, escapeBidi, Id, shortId, Time, UntrustedText, workerOf } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { isOpen, STATUS_TONES } from './status.ts';

/** Shows one task, even if it is not in the list. */
export function TaskPanel({ id, listed, onClose }: RowPanelProps<Task>) {
  const query = useRead('tasks.show', { task_id: id });
  const task = query.data?.task ?? listed;
  return (
    <ReadPanel what="The task" title={task?.title ?? shortId(id)} query={query} value={task} facts={factsOf} onClose={onClose}>
      {(shown) => (
        <>
          <NameList unit="file" names={shown.target_files} />
          <div>
            <CancelTask task={shown} onCancelled={onClose} />
          </div>
        </>
      )}
    </ReadPanel>
  );
}

const optional = (text: string | null) => text && <UntrustedText text={text} />;

const factsOf = (task: Task): FactValues => ({
  Status: <State tone={STATUS_TONES[task.status]}>{task.status}</State>,
  Owner: <AgentName name={workerOf(task.owner, task.agent)} id={task.agent_id} />,
  Overlap: <OverlapsOf task={task} />,
  Type: task.task_type,
  Priority: task.priority,
  Scope: optional(task.scope),
  Description: optional(task.description),
  Component: optional(task.component),
  Repository: optional(task.repo),
  Workstream: task.workstream_id && (
    <Link to="/tasks" search={{ workstream: task.workstream_id, status: 'all' }} className="link">
      <UntrustedText text={task.workstream_title ?? task.workstream_id} />
    </Link>
  ),
  Task: <Id id={task.task_id} />,
  Planned: <Time at={task.created_at} />,
  Started: task.started_at && <Time at={task.started_at} />,
  Ended: task.closed_at !== null && <Time at={task.closed_at} />,
  Result: task.status === 'completed' && optional(task.result_summary),
  Reason: task.status === 'cancelled' && optional(task.reason),
});

/** Shows how many overlaps a task has. The link leads to the open ones, or to all of them if none is open. */
export function OverlapsOf({ task: { task_id, overlaps } }: { task: Pick<Task, 'task_id' | 'overlaps'> }) {
  const { all, open } = overlaps;
  if (all === 0) return <span className="text-muted [td_&]:max-sm:hidden">none</span>;
  return (
    <Link
      to="/tasks/overlaps"
      search={{ subject: task_id, status: open > 0 ? 'open' : undefined }}
      aria-label={counted(open || all, open > 0 ? 'open overlap' : 'resolved overlap')}
      className="hover:underline"
    >
      <State tone={open > 0 ? 'wait' : 'quiet'}>{open > 0 ? `${open} open` : `${all} resolved`}</State>
    </Link>
  );
}

export function CancelTask({ task, inRow = false, onCancelled }: { task: Task; inRow?: boolean; onCancelled?: () => void }) {
  if (!task.mine || !isOpen(task)) return null;
  return (
    <ConfirmAction
      button={inRow ? 'Cancel' : 'Cancel task'}
      name={inRow ? `Cancel ${escapeBidi(task.title)}` : undefined}
      small={inRow}
      title="Cancel this task?"
      act="Cancel task"
      keep="Keep task"
      action="tasks.cancel"
      reason={REASON}
      input={(reason) => ({ task_id: task.task_id, reason })}
      failed="The task was not cancelled."
      onDone={onCancelled}
    >
      <p className="font-medium">
        <UntrustedText text={task.title} brief />
      </p>
      <p>The task is {task.status}. Cancelling cannot be undone. Your team sees the reason.</p>
    </ConfirmAction>
  );
}
