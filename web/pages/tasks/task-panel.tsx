import { Link } from '@tanstack/react-router';
import type { Task } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { Id, shortId } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said, workerOf } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { OverlapsOf } from './overlaps-of.tsx';
import { isOpen, STATUS_TONES } from './status.ts';

interface TaskPanelProps {
  /** Its id, or the end of it. */
  id: string;
  /** As the list has it, until it is read by itself. */
  listed: Task | undefined;
  onClose: () => void;
  onCancel: (task: Task) => void;
}

/** One task, whether the list beside it holds it or not. */
export function TaskPanel({ id, listed, onClose, onCancel }: TaskPanelProps) {
  const { data, error, refetch } = useRead('tasks.show', { task_id: id });
  const task = data?.task ?? listed;
  if (!task) {
    return (
      <SidePanel title={shortId(id)} onClose={onClose}>
        {error ? <Problem what="The task could not be read." error={error} onRetry={() => void refetch()} /> : <TableSkeleton />}
      </SidePanel>
    );
  }
  const optional = (text: string | null) => text && <Said text={text} />;
  return (
    <SidePanel title={task.title} onClose={onClose}>
      {error && <Problem what="The task could not be read again." error={error} onRetry={() => void refetch()} />}
      <Facts>
        <Fact name="Status">
          <State tone={STATUS_TONES[task.status]}>{task.status}</State>
        </Fact>
        <Fact name="Owner">
          <AgentName name={workerOf(task.owner, task.agent)} id={task.agent_id} />
        </Fact>
        <Fact name="Overlap">
          <OverlapsOf task={task} />
        </Fact>
        <Fact name="Type">{task.task_type}</Fact>
        <Fact name="Priority">{task.priority}</Fact>
        <Fact name="Scope">{optional(task.scope)}</Fact>
        <Fact name="Description">{optional(task.description)}</Fact>
        <Fact name="Component">{optional(task.component)}</Fact>
        <Fact name="Repository">{optional(task.repo)}</Fact>
        <Fact name="Workstream">
          {task.workstream_id && (
            <Link to="/tasks" search={{ workstream: task.workstream_id, status: 'all' }} className="link">
              <Said text={task.workstream_title ?? task.workstream_id} />
            </Link>
          )}
        </Fact>
        <Fact name="Task">
          <Id id={task.task_id} />
        </Fact>
        <Fact name="Planned">
          <Time at={task.created_at} />
        </Fact>
        <Fact name="Started">{task.started_at && <Time at={task.started_at} />}</Fact>
        {task.closed_at && (
          <Fact name="Ended">
            <Time at={task.closed_at} />
          </Fact>
        )}
        {task.status === 'completed' && <Fact name="Result">{optional(task.result_summary)}</Fact>}
        {task.status === 'cancelled' && <Fact name="Reason">{optional(task.reason)}</Fact>}
      </Facts>
      <Files paths={task.target_files} />
      {task.mine && isOpen(task) && (
        <div>
          <ActButton look="bad" onClick={() => onCancel(task)}>
            Cancel task
          </ActButton>
        </div>
      )}
    </SidePanel>
  );
}

function Files({ paths }: { paths: readonly string[] }) {
  if (paths.length === 0) return null;
  return (
    <div className="grid gap-1">
      <h3 className="text-muted">{counted(paths.length, 'file')}</h3>
      <ul className="mono grid gap-0.5">
        {paths.map((path) => (
          <li key={path}>
            <Said text={path} />
          </li>
        ))}
      </ul>
    </div>
  );
}
