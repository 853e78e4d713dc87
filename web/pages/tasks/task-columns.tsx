import { Link } from '@tanstack/react-router';
import type { Task } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { disarmed, Said, workerOf } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import type { TaskSearch } from '../../search.ts';
import { OverlapsOf } from './overlaps-of.tsx';
import { isOpen, STATUS_TONES } from './status.ts';

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-xl:hidden';

export const taskColumns = (search: TaskSearch, cancel: (task: Task) => void): readonly Column<Task>[] => [
  {
    label: 'Title',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ task_id, title }) => (
      <Link to="/tasks" search={{ ...search, task: task_id }} resetScroll={false} className="font-medium hover:underline">
        <Said text={title} brief />
      </Link>
    ),
  },
  { label: 'Status', wide: 'sm:w-28 xl:w-34', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ status }) => <State tone={STATUS_TONES[status]}>{status}</State> },
  {
    label: 'Owner',
    wide: 'sm:w-[18%] xl:w-[14%]',
    card: 'max-sm:order-3',
    cell: ({ owner, agent, agent_id }) => <AgentName name={workerOf(owner, agent)} id={agent_id} />,
  },
  { label: 'Type', wide: `xl:w-20 ${ROOMY}`, card: `text-muted max-sm:order-3 ${ROOMY}`, cell: ({ task_type }) => task_type },
  {
    label: 'Workstream',
    wide: `xl:w-[13%] ${ROOMY}`,
    card: `max-sm:hidden ${ROOMY}`,
    cell: ({ title, workstream_id, workstream_title }) =>
      workstream_id === null ? (
        '—'
      ) : (
        <Link to="/tasks" search={{ workstream: workstream_id, status: 'all' }} className="hover:underline">
          {/* One that was made for this task bears its title. */}
          {workstream_title === title ? 'its own' : <Said text={workstream_title ?? workstream_id} brief />}
        </Link>
      ),
  },
  {
    label: 'Files',
    wide: 'sm:w-18',
    card: 'text-muted max-sm:order-4',
    cell: ({ task_id, target_files }) =>
      target_files.length === 0 ? (
        <span className="text-muted max-sm:hidden">none</span>
      ) : (
        <Link to="/tasks" search={{ ...search, task: task_id }} resetScroll={false} className="hover:underline">
          {counted(target_files.length, 'file')}
        </Link>
      ),
  },
  {
    label: 'Overlap',
    wide: 'sm:w-26',
    card: 'max-sm:order-4',
    cell: (task) => <OverlapsOf task={task} />,
  },
  { label: 'Updated', wide: 'sm:w-20', card: 'text-muted max-sm:order-4 max-sm:ml-auto', cell: ({ updated_at }) => <Time at={updated_at} /> },
  {
    label: 'Actions',
    wide: `xl:w-22 ${ROOMY}`,
    card: `max-sm:hidden ${ROOMY}`,
    cell: (task) =>
      task.mine &&
      isOpen(task) && (
        <ActButton look="bad" className="min-h-6 px-2" aria-label={`Cancel ${disarmed(task.title)}`} onClick={() => cancel(task)}>
          Cancel
        </ActButton>
      ),
  },
];
