import type { Token } from '../../api.ts';
import { DISCONNECTED_REASON, useDisconnected } from '../../live/connection.ts';
import { Id } from '../../parts/id.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { carrierOf } from './agent.ts';

const TONES: Record<Token['status'], Tone> = { live: 'good', expired: 'quiet', revoked: 'quiet' };

export const tokenColumns = (revoke: (token: Token) => void): readonly Column<Token>[] => [
  { label: 'Label', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ label }) => label },
  { label: 'For', wide: 'sm:w-[15%]', card: 'max-sm:order-3', cell: (token) => carrierOf(token) },
  { label: 'Id', wide: 'sm:w-[17%]', card: 'max-sm:order-3', cell: ({ token_id }) => <Id id={token_id} /> },
  {
    label: 'Last used',
    wide: 'sm:w-[18%]',
    card: "text-muted max-sm:order-3 max-sm:before:content-['last_used:_']",
    cell: ({ last_used_at }) => <LastUsed at={last_used_at} />,
  },
  { label: 'Status', wide: 'sm:w-24', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ status }) => <State tone={TONES[status]}>{status}</State> },
  {
    label: 'Actions',
    wide: 'sm:w-28',
    card: 'max-sm:order-4 max-sm:ml-auto',
    cell: (token) => token.status === 'live' && <RevokeButton label={token.label} onClick={() => revoke(token)} />,
  },
];

function LastUsed({ at }: { at: number | null }) {
  return at === null ? 'never' : <Time at={at} />;
}

function RevokeButton({ label, onClick }: { label: string; onClick: () => void }) {
  const disconnected = useDisconnected();
  return (
    <button
      type="button"
      className="button button-bad"
      disabled={disconnected}
      title={disconnected ? DISCONNECTED_REASON : undefined}
      aria-label={`Revoke ${label}`}
      onClick={onClick}
    >
      Revoke
    </button>
  );
}
