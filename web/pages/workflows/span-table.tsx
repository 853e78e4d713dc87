import { useMemo } from 'react';
import type { WorkflowTimeline } from '../../api.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column, Table } from '../../parts/table.tsx';
import { dateOf } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { TaskLink } from './next-tasks.tsx';
import { SPAN_TONES, SPAN_WORDS } from './status.ts';

type Lane = WorkflowTimeline['lanes'][number];
type Row = Lane['spans'][number] & { agent: string };

export const laneName = ({ agent_id, agent_name }: Pick<Lane, 'agent_id' | 'agent_name'>): string => agent_name ?? agent_id ?? 'without a claim';

const COLUMNS: readonly Column<Row>[] = [
  { label: 'Task', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ task_id, task_name }) => <TaskLink id={task_id} name={task_name} /> },
  { label: 'Agent', wide: 'sm:w-[18%]', card: 'max-sm:order-3', cell: ({ agent }) => <UntrustedText text={agent} brief /> },
  {
    label: 'How it ended',
    wide: 'sm:w-44',
    card: `max-sm:order-2 ${CARD_STATE} max-sm:w-auto`,
    cell: ({ end, reclaimed }) => (
      <span className="flex flex-wrap gap-1">
        <State tone={SPAN_TONES[end]}>{SPAN_WORDS[end]}</State>
        {reclaimed && <State tone="wait">reclaimed</State>}
      </span>
    ),
  },
  { label: 'From', wide: 'sm:w-36', card: 'text-muted max-sm:order-4', cell: ({ from }) => dateOf(from) },
  { label: 'Until', wide: 'sm:w-36', card: 'text-muted max-sm:order-4', cell: ({ until }) => (until === null ? '—' : dateOf(until)) },
];

/** The same as the lanes, the last begun first. */
export function SpanTable({ timeline: { lanes } }: { timeline: WorkflowTimeline }) {
  const rows = useMemo(
    () => lanes.flatMap((lane) => lane.spans.map((span): Row => ({ ...span, agent: laneName(lane) }))).sort((one, other) => other.from - one.from),
    [lanes],
  );
  return (
    <div className="panel">
      <Table label="Who had which task when" columns={COLUMNS} rows={rows} rowKey={({ task_id, from }) => `${task_id} ${from}`} />
    </div>
  );
}
