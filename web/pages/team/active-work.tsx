import { Link } from '@tanstack/react-router';
import type { TeamState, Work } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Said, workerOf } from '../../parts/said.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { CARD_STATE, CARD_TITLE, type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { STATUS_TONES } from '../tasks/status.ts';

export function ActiveWork({ state: { activeWork, plannedWork, cut } }: { state: TeamState }) {
  const open = counted(activeWork.length + plannedWork.length, 'open task');
  const isCut = cut.includes('active_work') || cut.includes('planned_work');
  return (
    <Section
      title="Active work"
      about={
        <Link to="/tasks" className="link">
          {isCut && 'more than '}
          {open}
        </Link>
      }
    >
      <div className="panel">
        {activeWork.length === 0 ? (
          <Nothing>Nobody has started anything that is not done.</Nothing>
        ) : (
          <Table label="Active work" columns={WORK_COLUMNS} rows={activeWork} rowKey={({ task_id }) => task_id} />
        )}
      </div>
    </Section>
  );
}

const WORK_COLUMNS: readonly Column<Work>[] = [
  {
    label: 'Title',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ task_id, title }) => (
      <Link to="/tasks" search={{ task: task_id }} className="font-medium hover:underline">
        <Said text={title} brief />
      </Link>
    ),
  },
  { label: 'Status', wide: 'sm:w-28 lg:w-34', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ status }) => <State tone={STATUS_TONES[status]}>{status}</State> },
  { label: 'Owner', wide: 'sm:w-[22%]', card: 'max-sm:order-3', cell: ({ owner, agent }) => <Said text={workerOf(owner, agent)} brief /> },
  { label: 'Updated', wide: 'sm:w-20 lg:w-28', card: 'text-muted max-sm:order-4 max-sm:ml-auto', cell: ({ updated_at }) => <Time at={updated_at} /> },
];
