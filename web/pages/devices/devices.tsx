import { Link } from '@tanstack/react-router';
import type { Device } from '../../api.ts';
import { ConfirmAction } from '../../parts/actions.tsx';
import { AsCommand, CliCommand, InstalledFirst, SetupCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyState, Notice, Section, State, type Tone } from '../../parts/layout.tsx';
import { useFewThenMany } from '../../parts/paging.ts';
import type { Column } from '../../parts/table.tsx';
import { counted, escapeBidi, Id, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { nameOf, namesOf } from '../identity/agent.ts';
import { LastUsed } from '../identity/tokens.tsx';

/** The page that lists the machines on which setup has created tokens for agents. */
export function Devices() {
  const isOperator = useRead('identity.me', {}).data?.operator ?? false;
  const devices = useFewThenMany('devices.list', {}, 200);
  return (
    <Section
      title="Devices"
      home
      about={
        <Link to="/setup/authorize" className="button text-text">
          Approve device
        </Link>
      }
    >
      <title>Devices · Covenant</title>
      <p className="text-muted">A machine that runs setup shows a code. Approving the code gives each agent on that machine a token in your name.</p>
      {isOperator && <WaitingDevices />}
      <div className="panel">
        <DataList
          noun="devices"
          label="Devices, newest first"
          list={devices}
          columns={COLUMNS}
          rowKey={({ device_id }) => device_id}
          empty={
            <EmptyState>
              <p>No devices yet. To set up all agents of a machine, run this in a repository on it and approve the code here:</p>
              <SetupCommand />
              <InstalledFirst />
              <p>To connect a single agent on the server's machine, run:</p>
              <CliCommand words="connect claude-code" />
            </EmptyState>
          }
        />
      </div>
      <AsCommand>
        <CliCommand words="devices list" />
      </AsCommand>
    </Section>
  );
}

const TONES: Record<Device['status'], Tone> = { waiting: 'wait', 'set up': 'good', revoked: 'quiet', expired: 'quiet' };

const COLUMNS: readonly Column<Device>[] = [
  { label: 'Machine', role: 'title', cell: ({ machine_name }) => <UntrustedText text={machine_name} brief /> },
  { label: 'Developer', width: 'sm:w-[13%]', cell: ({ developer }) => <UntrustedText text={developer} brief /> },
  { label: 'Agents', role: 'wide', width: 'sm:w-[22%]', cell: ({ agents }) => <Agents agents={agents} /> },
  { label: 'Id', from: 'lg', width: 'lg:w-[15%]', cell: ({ device_id }) => <Id id={device_id} /> },
  { label: 'Approved', role: 'meta', from: 'lg', width: 'lg:w-[12%]', prefix: 'approved:', cell: ({ approved_at }) => <Time at={approved_at} /> },
  { label: 'Last used', role: 'meta', width: 'sm:w-[14%] lg:w-[12%]', prefix: 'last used:', cell: ({ last_used_at }) => <LastUsed at={last_used_at} /> },
  { label: 'Status', role: 'state', width: 'sm:w-24', cell: ({ status }) => <State tone={TONES[status]}>{status}</State> },
  { label: 'Actions', role: 'end', width: 'sm:w-28', cell: (device) => device.status === 'set up' && <RevokeDevice device={device} /> },
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

/** Revokes the tokens of a machine. This cannot be undone, so the person must type the end of the machine's id to confirm. */
function RevokeDevice({ device: { device_id, machine_name, agents } }: { device: Device }) {
  const live = agents.filter((agent) => agent.live).map(({ agent }) => agent);
  return (
    <ConfirmAction
      button="Revoke"
      name={`Revoke ${escapeBidi(machine_name)}`}
      title="Revoke this device?"
      act={`Revoke ${counted(live.length, 'token')}`}
      typed={device_id.slice(-6)}
      action="devices.revoke"
      input={{ device_id }}
      failed="The device was not revoked."
      command={`devices revoke ${device_id}`}
    >
      <p>
        {namesOf(live)} on <UntrustedText text={machine_name} /> {live.length === 1 ? 'is' : 'are'} refused from the next call on. This cannot be undone: to
        reconnect, run setup again on that machine.
      </p>
    </ConfirmAction>
  );
}

/** The page polls, because no event reports that a code has expired. */
const POLL_MS = 30_000;

function WaitingDevices() {
  const waiting = useRead('devices.waiting', {}, { pollMs: POLL_MS }).data?.items ?? [];
  return waiting.map(({ user_code, machine_name, agents, source, asked_at }) => (
    <Notice key={user_code} tone="you">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="min-w-0 flex-1 basis-64">
          <UntrustedText text={machine_name} /> ({source}) requested tokens for {namesOf(agents)} <Time at={asked_at} />. Code: <code>{user_code}</code>
        </p>
        <Link to="/setup/authorize" search={{ code: user_code }} className="button text-text">
          Review
        </Link>
      </div>
    </Notice>
  ));
}
