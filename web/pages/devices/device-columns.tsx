import { Link } from '@tanstack/react-router';
import type { Device } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Id } from '../../parts/id.tsx';
import { disarmed, Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { nameOf } from '../identity/agent.ts';
import { LastUsed } from '../identity/tokens.tsx';

const TONES: Record<Device['status'], Tone> = { waiting: 'wait', 'set up': 'good', revoked: 'quiet', expired: 'quiet' };

/** Between a card and a wide table there is no room for everything. */
const WIDE_ONLY = 'sm:max-lg:hidden';

export const deviceColumns = (revoke: (device: Device) => void): readonly Column<Device>[] => [
  { label: 'Machine', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ machine_name }) => <Said text={machine_name} brief /> },
  { label: 'Developer', wide: 'sm:w-[13%]', card: 'max-sm:order-3', cell: ({ developer }) => <Said text={developer} brief /> },
  { label: 'Agents', wide: 'sm:w-[22%]', card: 'max-sm:order-4 max-sm:w-full', cell: ({ agents }) => <Agents agents={agents} /> },
  { label: 'Id', wide: `${WIDE_ONLY} lg:w-[15%]`, card: `max-sm:order-3 ${WIDE_ONLY}`, cell: ({ device_id }) => <Id id={device_id} /> },
  {
    label: 'Approved',
    wide: `${WIDE_ONLY} lg:w-[12%]`,
    card: `text-muted max-sm:order-3 max-sm:before:content-['approved:_'] ${WIDE_ONLY}`,
    cell: ({ approved_at }) => <Time at={approved_at} />,
  },
  {
    label: 'Last used',
    wide: 'sm:w-[14%] lg:w-[12%]',
    card: "text-muted max-sm:order-3 max-sm:before:content-['last_used:_']",
    cell: ({ last_used_at }) => <LastUsed at={last_used_at} />,
  },
  { label: 'Status', wide: 'sm:w-24', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ status }) => <State tone={TONES[status]}>{status}</State> },
  {
    label: 'Actions',
    wide: 'sm:w-28',
    card: 'max-sm:order-5 max-sm:ml-auto',
    cell: (device) =>
      device.status === 'set up' && (
        <ActButton look="bad" aria-label={`Revoke ${disarmed(device.machine_name)}`} onClick={() => revoke(device)}>
          Revoke
        </ActButton>
      ),
  },
];

function Agents({ agents }: { agents: Device['agents'] }) {
  return agents.map(({ agent, token_id, live }, index) => (
    <span key={agent} className={live ? '' : 'text-muted line-through'}>
      {index > 0 && ', '}
      {token_id === null ? (
        nameOf(agent)
      ) : (
        <Link to="/settings/tokens" search={{ token: token_id }} className="hover:underline">
          {nameOf(agent)}
        </Link>
      )}
    </span>
  ));
}
