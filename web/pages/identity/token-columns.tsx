import { Link } from '@tanstack/react-router';
import type { Token } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Id } from '../../parts/id.tsx';
import { disarmed, Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { carrierOf } from './agent.ts';

export const TOKEN_TONES: Record<Token['status'], Tone> = { live: 'good', expired: 'quiet', revoked: 'quiet' };

export const tokenColumns = (all: boolean, revoke: (token: Token) => void): readonly Column<Token>[] => [
  { label: 'Label', card: `max-sm:order-1 ${CARD_TITLE}`, cell: (token) => <TokenLink token={token} all={all} /> },
  ...(all ? [{ label: 'Developer', wide: 'sm:w-[14%]', card: 'max-sm:order-3', cell: (token: Token) => <Owner token={token} /> }] : []),
  { label: 'For', wide: 'sm:w-[14%]', card: 'max-sm:order-3', cell: (token) => carrierOf(token) },
  { label: 'Id', wide: 'sm:w-[16%]', card: 'max-sm:order-3', cell: ({ token_id }) => <Id id={token_id} /> },
  {
    label: 'Last used',
    wide: 'sm:w-[15%]',
    card: "text-muted max-sm:order-3 max-sm:before:content-['last_used:_']",
    cell: ({ last_used_at }) => <LastUsed at={last_used_at} />,
  },
  { label: 'Status', wide: 'sm:w-24', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ status }) => <State tone={TOKEN_TONES[status]}>{status}</State> },
  {
    label: 'Actions',
    wide: 'sm:w-28',
    card: 'max-sm:order-4 max-sm:ml-auto',
    cell: (token) =>
      token.status === 'live' && (
        <ActButton look="bad" aria-label={`Revoke ${disarmed(token.label)}`} onClick={() => revoke(token)}>
          Revoke
        </ActButton>
      ),
  },
];

function TokenLink({ token: { token_id, label }, all }: { token: Token; all: boolean }) {
  return (
    <Link to="/settings/tokens" search={{ ...(all && { whose: 'all' }), token: token_id }} resetScroll={false} className="hover:underline">
      <Said text={label} brief />
    </Link>
  );
}

export function Owner({ token: { developer, kind } }: { token: Token }) {
  return <Said text={developer ?? kind} brief />;
}

export function LastUsed({ at }: { at: number | null }) {
  return at === null ? 'never' : <Time at={at} />;
}
