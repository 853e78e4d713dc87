import { Link } from '@tanstack/react-router';
import type { Overlap, Thresholds } from '../../api.ts';
import { Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Score } from './score.tsx';
import type { OverlapSearch } from './search.ts';
import { Level, Verdict } from './verdict.tsx';

/** The one that it is most alike. */
export const bestOf = ({ matches }: Overlap) => matches.reduce((best, match) => (match.score > best.score ? match : best), matches[0] ?? NO_MATCH);
const NO_MATCH = { title: '—', score: 0, reason: '—' };

export const overlapColumns = (search: OverlapSearch, settings: Thresholds | undefined): readonly Column<Overlap>[] => [
  {
    label: 'Pair',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: (overlap) => (
      <Link to="/tasks/overlaps" search={{ ...search, warning: overlap.warning_id }} resetScroll={false} className="group grid">
        <span className="font-medium group-hover:underline">
          <Said text={overlap.title} brief />
        </span>
        <span className="flex gap-1 text-muted">
          <span className="shrink-0">against</span>
          <Said text={bestOf(overlap).title} brief />
        </span>
      </Link>
    ),
  },
  {
    label: 'Score',
    wide: 'sm:w-28 lg:w-36',
    card: 'max-sm:order-3 max-sm:w-full',
    cell: (overlap) => <Score score={bestOf(overlap).score} settings={settings} />,
  },
  { label: 'Level', wide: 'sm:w-24 lg:w-28', card: 'max-sm:order-4', cell: ({ level }) => <Level level={level} /> },
  { label: 'Verdict', wide: 'sm:w-28', card: `max-sm:order-2 ${CARD_STATE}`, cell: (overlap) => <Verdict overlap={overlap} /> },
  {
    label: 'Reason',
    wide: 'lg:w-[22%] sm:max-lg:hidden',
    card: 'text-muted max-sm:order-6 max-sm:w-full sm:max-lg:hidden',
    cell: (overlap) => <Said text={bestOf(overlap).reason} brief />,
  },
  { label: 'Developer', wide: 'sm:w-[12%]', card: 'max-sm:order-4', cell: ({ developer }) => <Said text={developer} /> },
  { label: 'Age', wide: 'sm:w-20 lg:w-24', card: 'text-muted max-sm:order-4 max-sm:ml-auto', cell: ({ created_at }) => <Time at={created_at} /> },
];
