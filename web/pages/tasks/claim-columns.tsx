import { Link } from '@tanstack/react-router';
import type { Claim } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { AgentName } from '../../parts/agent-name.tsx';
import { disarmed, Said, workerOf } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Until } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import type { ClaimSearch } from '../../search.ts';

/** Who holds it alone keeps others out. */
const MODES: Record<Claim['mode'], Tone> = { exclusive: 'wait', shared: 'live' };

export const Mode = ({ mode }: Pick<Claim, 'mode'>) => <State tone={MODES[mode]}>{mode}</State>;

/** What a row has room for; the rest is in the panel. */
const FIRST = 3;

export const claimedIn = ({ paths, symbols }: Claim): string[] => [...paths, ...symbols];

function patternsOf(claim: Claim): string {
  const all = claimedIn(claim);
  return all.length > FIRST ? `${all.slice(0, FIRST).join(', ')} and ${all.length - FIRST} more` : all.join(', ');
}

export const claimColumns = (search: ClaimSearch, release: (claim: Claim) => void): readonly Column<Claim>[] => [
  {
    label: 'Pattern',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: (claim) => (
      <Link to="/tasks/claims" search={{ ...search, claim: claim.claim_id }} resetScroll={false} className="mono hover:underline">
        <Said text={patternsOf(claim)} brief />
      </Link>
    ),
  },
  { label: 'Mode', wide: 'sm:w-28 lg:w-34', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ mode }) => <Mode mode={mode} /> },
  {
    label: 'Holder',
    wide: 'sm:w-[18%]',
    card: 'max-sm:order-3',
    cell: ({ developer, agent_type, agent_id }) => <AgentName name={workerOf(developer, agent_type)} id={agent_id} />,
  },
  {
    label: 'Repository',
    wide: 'lg:w-[20%] sm:max-lg:hidden',
    card: 'text-muted max-sm:order-4 sm:max-lg:hidden',
    cell: ({ repo }) => <Said text={repo} brief />,
  },
  { label: 'Expires', wide: 'sm:w-20 lg:w-28', card: 'text-muted max-sm:order-3 max-sm:ml-auto', cell: ({ expires_at }) => <Until at={expires_at} /> },
  {
    label: 'Actions',
    wide: 'sm:w-24',
    card: 'max-sm:hidden',
    cell: (claim) => <ReleaseButton claim={claim} onRelease={release} small />,
  },
];

/** Whoever may not release it sees so, and why. */
export function ReleaseButton({ claim, onRelease, small = false }: { claim: Claim; onRelease: (claim: Claim) => void; small?: boolean }) {
  if (claim.state !== 'live') return null;
  return (
    <ActButton
      look="bad"
      needs={claim.own ? 'member' : 'operator'}
      className={small ? 'min-h-6 px-2' : ''}
      aria-label={small ? `Release ${disarmed(patternsOf(claim))}` : undefined}
      onClick={() => onRelease(claim)}
    >
      {small ? 'Release' : 'Release claim'}
    </ActButton>
  );
}
