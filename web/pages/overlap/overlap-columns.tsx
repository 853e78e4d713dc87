import { Link } from '@tanstack/react-router';
import type { Overlap, Thresholds } from '../../api.ts';
import { Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import type { OverlapSearch } from '../../search.ts';
import { Score } from './score.tsx';
import { JudgedBy, Level, Verdict } from './verdict.tsx';

/** The one that it is most alike. */
const bestOf = ({ matches }: Overlap) => matches.reduce((best, match) => (match.score > best.score ? match : best), matches[0] ?? NO_MATCH);
const NO_MATCH = { title: '—', owner: '—', score: 0, reason: '—' };

export const overlapColumns = (search: OverlapSearch, settings: Thresholds | undefined): readonly Column<Overlap>[] => [
  {
    label: 'Pair',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: (overlap) => (
      <Link to="/tasks/overlaps" search={{ ...search, warning: overlap.warning_id }} resetScroll={false} className="group grid">
        <span className="font-medium group-hover:underline">
          <Said text={overlap.title} brief />
        </span>
        <span className="line-clamp-2 text-muted">
          <Said text={overlap.developer} /> against <Said text={bestOf(overlap).owner} />: <Said text={bestOf(overlap).title} />
        </span>
      </Link>
    ),
  },
  {
    label: 'Score',
    wide: 'sm:w-28 xl:w-36',
    card: 'max-sm:order-3 max-sm:w-full',
    cell: (overlap) => <Score score={bestOf(overlap).score} settings={settings} />,
  },
  { label: 'Level', wide: 'sm:w-26', card: 'max-sm:order-4', cell: ({ level }) => <Level level={level} /> },
  { label: 'Verdict', wide: 'sm:w-28', card: `max-sm:order-2 ${CARD_STATE}`, cell: (overlap) => <Verdict overlap={overlap} /> },
  { label: 'Judged by', wide: 'sm:w-[14%] xl:w-[12%]', card: 'max-sm:order-4', cell: (overlap) => <JudgedBy overlap={overlap} /> },
  {
    label: 'Reason',
    wide: 'xl:w-[20%] sm:max-xl:hidden',
    card: 'text-muted max-sm:order-6 max-sm:w-full sm:max-xl:hidden',
    cell: (overlap) => <Said text={bestOf(overlap).reason} brief />,
  },
  { label: 'Age', wide: 'sm:w-18', card: 'text-muted max-sm:order-4 max-sm:ml-auto', cell: ({ created_at }) => <Time at={created_at} /> },
];
