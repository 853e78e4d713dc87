import { Link } from '@tanstack/react-router';
import type { Grant } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { disarmed, Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { dateOf } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import type { GrantSearch } from '../../search.ts';
import { scopeKind, scopeWords, usesLeft } from './scope.ts';

export const GRANT_TONES: Record<Grant['status'], Tone> = { live: 'good', exhausted: 'wait', expired: 'quiet', revoked: 'quiet' };
export const STATUS_WORDS: Record<Grant['status'], string> = { live: 'live', exhausted: 'used up', expired: 'expired', revoked: 'revoked' };

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-lg:hidden';

export const grantColumns = (search: GrantSearch, revoke: (grant: Grant) => void): readonly Column<Grant>[] => [
  {
    label: 'Subject',
    wide: 'sm:w-[20%]',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ grant_id, subject_name }) => (
      <Link to="/tools/grants" search={{ ...search, grant: grant_id }} resetScroll={false} className="font-medium hover:underline">
        <Said text={subject_name} brief />
      </Link>
    ),
  },
  {
    label: 'Action',
    card: 'max-sm:order-3 max-sm:w-full',
    cell: ({ action }) => (
      <span className="mono">
        <Said text={action} brief />
      </span>
    ),
  },
  { label: 'Scope', wide: 'sm:w-[18%]', card: 'text-muted max-sm:order-4', cell: (grant) => <Scope grant={grant} /> },
  { label: 'Uses left', wide: `lg:w-20 ${ROOMY}`, card: `max-sm:hidden ${ROOMY}`, cell: (grant) => usesLeft(grant)?.toLocaleString() ?? 'no limit' },
  {
    label: 'Expires',
    wide: `lg:w-32 ${ROOMY}`,
    card: `max-sm:hidden ${ROOMY}`,
    cell: ({ scope: { expires_at } }) => (expires_at === undefined ? 'never' : dateOf(expires_at)),
  },
  {
    label: 'By',
    wide: 'sm:w-[12%]',
    card: "text-muted max-sm:order-4 max-sm:before:content-['by_']",
    cell: ({ granted_by_name }) => <Said text={granted_by_name} />,
  },
  {
    label: 'Status',
    wide: 'sm:w-24 lg:w-28',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ status }) => <State tone={GRANT_TONES[status]}>{STATUS_WORDS[status]}</State>,
  },
  {
    label: 'Actions',
    wide: 'sm:w-22',
    card: 'max-sm:hidden',
    cell: (grant) =>
      grant.status !== 'revoked' && (
        <ActButton
          needs="operator"
          look="bad"
          className="min-h-6 px-2"
          aria-label={disarmed(`Revoke ${grant.action} from ${grant.subject_name}`)}
          onClick={() => revoke(grant)}
        >
          Revoke
        </ActButton>
      ),
  },
];

/** Where uses and end have columns of their own, only the rest. */
function Scope({ grant }: { grant: Grant }) {
  return (
    <>
      <span className="max-lg:hidden">{scopeKind(grant)}</span>
      <span className="lg:hidden">{scopeWords(grant)}</span>
    </>
  );
}
