import { Link } from '@tanstack/react-router';
import { counted } from '../../parts/count.ts';
import { Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import type { ChangeSearch } from '../../search.ts';
import { type Change, changeKey } from './change.ts';

const REJECTED: Column<Change> = {
  label: 'Rejected',
  wide: 'sm:w-[16%] sm:max-lg:hidden',
  card: 'text-muted max-sm:order-4 sm:max-lg:hidden',
  cell: ({ rejected }) =>
    rejected && (
      <>
        by <Said text={rejected.by} />, <Time at={rejected.at} />
      </>
    ),
};

export const changeColumns = (search: ChangeSearch): readonly Column<Change>[] => [
  {
    label: 'Definition',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: (change) => (
      <Link to="/tools/changes" search={{ ...search, change: changeKey(change) }} resetScroll={false} className="mono font-medium hover:underline">
        <Said text={change.exposed || change.name || 'one without a name'} brief />
      </Link>
    ),
  },
  { label: 'Kind', wide: 'sm:w-20', card: 'text-muted max-sm:order-3', cell: ({ kind }) => kind },
  { label: 'Server', wide: 'sm:w-[20%]', card: 'max-sm:order-3', cell: ({ server }) => <Said text={server} brief /> },
  {
    label: 'Why',
    wide: 'sm:w-34',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ reason, rejected, fingerprint }) => (
      <State tone={rejected === null && fingerprint !== '' ? 'you' : 'quiet'}>{rejected === null ? reason.replace('_', ' ') : 'rejected'}</State>
    ),
  },
  {
    label: 'Difference',
    wide: 'sm:w-40',
    card: 'text-muted max-sm:order-4',
    cell: ({ difference, more_changes }) => (difference.length === 0 ? '—' : counted(difference.length + more_changes, 'place')),
  },
  ...(search.show === 'rejected' ? [REJECTED] : []),
];
