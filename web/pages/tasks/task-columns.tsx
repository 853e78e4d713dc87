import { Link } from '@tanstack/react-router';
import type { Task } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { Said, workerOf } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import type { TaskSearch } from './search.ts';
import { isOpen, STATUS_TONES } from './status.ts';

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-lg:hidden';

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
  { label: 'Status', wide: 'sm:w-28 lg:w-34', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ status }) => <State tone={STATUS_TONES[status]}>{status}</State> },
  { label: 'Owner', wide: 'sm:w-[16%]', card: 'max-sm:order-3', cell: ({ owner, agent }) => <Said text={workerOf(owner, agent)} /> },
  { label: 'Type', wide: `lg:w-20 ${ROOMY}`, card: `text-muted max-sm:order-3 ${ROOMY}`, cell: ({ task_type }) => task_type },
  {
    label: 'Workstream',
    wide: `lg:w-28 ${ROOMY}`,
    card: `max-sm:hidden ${ROOMY}`,
    cell: ({ workstream_id }) => (workstream_id === null ? '—' : <Id id={workstream_id} />),
  },
  { label: 'Files', wide: 'sm:w-18 lg:w-20', card: 'text-muted max-sm:order-4', cell: ({ target_files }) => counted(target_files.length, 'file') },
  { label: 'Updated', wide: 'sm:w-20 lg:w-28', card: 'text-muted max-sm:order-4 max-sm:ml-auto', cell: ({ updated_at }) => <Time at={updated_at} /> },
  {
    label: 'Actions',
    wide: 'sm:w-22',
    card: 'max-sm:hidden',
    cell: (task) =>
      task.mine &&
      isOpen(task) && (
        <ActButton look="bad" className="min-h-6 px-2" aria-label={`Cancel ${task.title}`} onClick={() => cancel(task)}>
          Cancel
        </ActButton>
      ),
  },
];
