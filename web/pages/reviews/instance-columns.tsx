import { Link } from '@tanstack/react-router';
import type { Instance } from '../../api.ts';
import { UntrustedText } from '../../parts/said.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { LinesChanged } from './lines-changed.tsx';
import { PullLink } from './pull-link.tsx';
import type { Sizes } from './read-instances.ts';
import { inWords, processOf, STATUS_TONES } from './status.ts';

/** A card has no heads: there a value says what it is. */
const named = (name: string, value: string) => (
  <>
    <span className="text-muted sm:hidden">{name} </span>
    {value}
  </>
);
/** And there nothing is said of what it has not. */
const NONE = <span className="max-sm:hidden">—</span>;

export const instanceColumns = (sizes: Sizes): readonly Column<Instance>[] => [
  {
    label: 'Instance',
    wide: 'xl:w-44',
    card: 'max-sm:order-1 max-sm:w-[calc(100%-9rem)] max-sm:font-medium',
    cell: ({ id, parent_instance_id }) => (
      <Link to="/reviews/$instance" params={{ instance: id }} className="group grid">
        <span className="mono font-medium group-hover:underline">{id}</span>
        {parent_instance_id && <span className="text-label text-muted">reviews {parent_instance_id}</span>}
      </Link>
    ),
  },
  { label: 'Type', wide: 'xl:w-20 sm:max-xl:hidden', card: 'max-sm:order-3 sm:max-xl:hidden', cell: ({ type }) => type },
  {
    label: 'Status',
    wide: 'sm:w-36',
    card: 'max-sm:order-2 max-sm:w-32 max-sm:self-start max-sm:text-right',
    cell: ({ status }) => <State tone={STATUS_TONES[status]}>{inWords(status)}</State>,
  },
  { label: 'Iteration', wide: 'sm:w-24', card: 'max-sm:order-4', cell: (instance) => <Iteration instance={instance} /> },
  {
    label: 'Failed',
    wide: 'sm:w-16',
    card: 'max-sm:order-4',
    cell: ({ type, failed_reviews, max_failed_reviews }) => (type === 'coding' ? named('failed', `${failed_reviews}/${max_failed_reviews}`) : NONE),
  },
  {
    label: 'Branch',
    wide: 'sm:max-xl:hidden',
    card: 'max-sm:order-5 max-sm:w-full sm:max-xl:hidden',
    cell: ({ branch }) => (
      <span className="mono">
        <UntrustedText text={branch} brief />
      </span>
    ),
  },
  {
    label: 'Diff +/−',
    wide: 'sm:w-28',
    card: 'max-sm:order-4',
    cell: ({ id }) => {
      const size = sizes.get(id);
      return size ? <LinesChanged {...size} /> : NONE;
    },
  },
  { label: 'PR', wide: 'sm:w-16', card: 'max-sm:order-4', cell: (instance) => (instance.pr_number === null ? NONE : <PullLink instance={instance} />) },
  { label: 'Process', wide: 'sm:w-20 sm:max-lg:hidden', card: 'max-sm:order-4 sm:max-lg:hidden', cell: processOf },
  { label: 'Age', wide: 'sm:w-16 lg:w-20 xl:w-24', card: 'text-muted max-sm:order-4 max-sm:ml-auto', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** How many of the reviews that it may have it has had; of a review, which one it is. */
function Iteration({ instance: { type, reviews, max_reviews, at_limit, review_iteration } }: { instance: Instance }) {
  if (type === 'review') return named('round', review_iteration === null ? '—' : String(review_iteration));
  if (type !== 'coding') return NONE;
  return at_limit ? <State tone="bad">{`limit ${reviews}/${max_reviews}`}</State> : named('reviews', `${reviews}/${max_reviews}`);
}
