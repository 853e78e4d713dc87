import type { Token } from '../../api.ts';
import { DISCONNECTED_REASON, useDisconnected } from '../../live/connection.ts';
import { Id } from '../../parts/id.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { carrierOf } from './agent.ts';

const TONES: Record<Token['status'], Tone> = { live: 'good', expired: 'quiet', revoked: 'quiet' };

export const tokenColumns = (revoke: (token: Token) => void): readonly Column<Token>[] => [
  { label: 'Label', card: 'max-sm:order-1 max-sm:w-[calc(100%-7rem)] font-medium', cell: ({ label }) => label },
  { label: 'For', wide: 'sm:w-[15%]', card: 'max-sm:order-3', cell: (token) => carrierOf(token) },
  { label: 'Id', wide: 'sm:w-[17%]', card: 'max-sm:order-3', cell: ({ token_id }) => <Id id={token_id} /> },
  { label: 'Last used', wide: 'sm:w-[18%]', card: 'text-muted max-sm:order-3', cell: ({ last_used_at }) => <LastUsed at={last_used_at} /> },
  { label: 'Status', wide: 'sm:w-24', card: 'max-sm:order-2 max-sm:ml-auto', cell: ({ status }) => <State tone={TONES[status]}>{status}</State> },
  {
    label: 'Actions',
    wide: 'sm:w-28',
    card: 'max-sm:order-4 max-sm:w-full',
    cell: (token) => token.status === 'live' && <RevokeButton label={token.label} onClick={() => revoke(token)} />,
  },
];

function LastUsed({ at }: { at: number | null }) {
  return at === null ? <span title="Never used">—</span> : <Time at={at} />;
}

function RevokeButton({ label, onClick }: { label: string; onClick: () => void }) {
  const disconnected = useDisconnected();
  return (
    <button type="button" className="button button-bad" disabled={disconnected} title={disconnected ? DISCONNECTED_REASON : undefined} aria-label={`Revoke ${label}`} onClick={onClick}>
      Revoke
    </button>
  );
}
