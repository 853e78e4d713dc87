import { Link } from '@tanstack/react-router';
import type { Cycle } from '../../api.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { repositoryName, STATUS_TONES } from './status.ts';

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-lg:hidden';

export const CYCLE_COLUMNS: readonly Column<Cycle>[] = [
  {
    label: 'Feature',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ id, feature }) => (
      <Link to="/cycles/$cycle" params={{ cycle: id }} className="font-medium hover:underline">
        <UntrustedText text={feature} brief />
      </Link>
    ),
  },
  { label: 'Phase', wide: 'sm:w-[16%]', card: 'max-sm:order-3', cell: ({ phase }) => phase },
  {
    label: 'Turn',
    wide: 'sm:w-[12%]',
    card: 'max-sm:order-3',
    cell: ({ status, active_role }) =>
      status === 'active' ? <span className="font-medium text-live">{active_role}</span> : <span className="max-sm:hidden">—</span>,
  },
  {
    label: 'Lock age',
    wide: 'sm:w-20 lg:w-28',
    card: 'text-muted max-sm:hidden',
    cell: ({ status, lock_acquired_at }) => (status === 'active' ? <Time at={lock_acquired_at} /> : '—'),
  },
  {
    label: 'Repository',
    wide: `lg:w-[16%] ${ROOMY}`,
    card: `text-muted max-sm:order-4 ${ROOMY}`,
    cell: ({ repository }) => (
      <span title={repository}>
        <UntrustedText text={repositoryName(repository)} />
      </span>
    ),
  },
  {
    label: 'Status',
    wide: 'sm:w-34',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ status }) => <State tone={STATUS_TONES[status]}>{status}</State>,
  },
  { label: 'Updated', wide: 'sm:w-20 lg:w-28', card: 'text-muted max-sm:order-5 max-sm:ml-auto', cell: ({ updated_at }) => <Time at={updated_at} /> },
];
