import type { Task } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { Said, workerOf } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { isOpen, STATUS_TONES } from './status.ts';

interface TaskPanelProps {
  id: string;
  /** Missing where the list does not hold it. */
  task: Task | undefined;
  onClose: () => void;
  onCancel: (task: Task) => void;
}

export function TaskPanel({ id, task, onClose, onCancel }: TaskPanelProps) {
  if (!task) {
    return (
      <SidePanel title="Not in this list" onClose={onClose}>
        <p>
          <Id id={id} /> is not among the tasks that are listed. It may have another status, or lie further down.
        </p>
      </SidePanel>
    );
  }
  const optional = (text: string | null) => text && <Said text={text} />;
  return (
    <SidePanel title={task.title} onClose={onClose}>
      <Facts>
        <Fact name="Status">
          <State tone={STATUS_TONES[task.status]}>{task.status}</State>
        </Fact>
        <Fact name="Owner">
          <Said text={workerOf(task.owner, task.agent)} />
        </Fact>
        <Fact name="Type">{task.task_type}</Fact>
        <Fact name="Priority">{task.priority}</Fact>
        <Fact name="Scope">{optional(task.scope)}</Fact>
        <Fact name="Description">{optional(task.description)}</Fact>
        <Fact name="Component">{optional(task.component)}</Fact>
        <Fact name="Repository">{optional(task.repo)}</Fact>
        <Fact name="Workstream">{task.workstream_id && <Id id={task.workstream_id} />}</Fact>
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
