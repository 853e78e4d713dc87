import { Link } from '@tanstack/react-router';
import type { Instance } from '../../api.ts';
import { Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { PullLink } from './pull-link.tsx';
import type { ReviewSearch } from './search.ts';
import { STATUS_TONES } from './status.ts';

export const instanceColumns = (search: ReviewSearch): readonly Column<Instance>[] => [
  {
    label: 'Instance',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ id, parent_instance_id }) => (
      <Link to="/reviews" search={{ ...search, instance: id }} resetScroll={false} className="group grid">
        <span className="mono font-medium group-hover:underline">{id}</span>
        {parent_instance_id && <span className="text-muted">reviews {parent_instance_id}</span>}
      </Link>
    ),
  },
  { label: 'Type', wide: 'sm:w-20', card: 'max-sm:order-3', cell: ({ type }) => type },
  {
    label: 'Status',
    wide: 'sm:w-36',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ status }) => <State tone={STATUS_TONES[status]}>{status}</State>,
  },
  { label: 'Reviews', wide: 'sm:w-32', card: 'max-sm:order-4', cell: (instance) => <Rounds instance={instance} /> },
  { label: 'Failed', wide: 'sm:w-20', card: 'max-sm:order-4', cell: ({ type, failed_reviews }) => (type === 'coding' ? `${failed_reviews} failed` : '—') },
  {
    label: 'Branch',
    wide: 'lg:w-[22%] sm:max-lg:hidden',
    card: 'max-sm:order-5 max-sm:w-full sm:max-lg:hidden',
    cell: ({ branch }) => <Said text={branch} brief />,
  },
  { label: 'PR', wide: 'sm:w-20', card: 'max-sm:order-4', cell: (instance) => <PullLink instance={instance} /> },
  { label: 'Process', wide: 'sm:w-24', card: 'max-sm:order-4', cell: ({ running, session_kind }) => (running ? (session_kind ?? 'starting') : 'ended') },
  { label: 'Age', wide: 'sm:w-20 lg:w-24', card: 'text-muted max-sm:order-4 max-sm:ml-auto', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** How many of the reviews that it may have it has had. */
function Rounds({ instance: { type, reviews, max_reviews, at_limit } }: { instance: Instance }) {
  if (type !== 'coding') return '—';
  return at_limit ? <State tone="bad">{`limit ${reviews}/${max_reviews}`}</State> : `${reviews}/${max_reviews}`;
}
