import { Link } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Device } from '../../api.ts';
import { useFrozen } from '../../live/tail.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Nothing } from '../../parts/section.tsx';
import { InstalledFirst, SetupCommand } from '../../parts/setup-command.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import { deviceColumns } from './device-columns.tsx';
import { RevokeDevice } from './revoke-device.tsx';
import { WaitingDevices } from './waiting-devices.tsx';

const [FEW, MANY] = [50, 200];

/** Machines whose agents got their tokens by setup. */
export function Devices() {
  const isOperator = useRead('identity.me', {}).data?.operator ?? false;
  const [limit, setLimit] = useState(FEW);
  const { data: read, error, refetch } = useRead('devices.list', { limit });
  const data = useFrozen(read, read === undefined);
  const [revoking, setRevoking] = useState<Device>();
  const heading = useRef<HTMLHeadingElement>(null);
  const columns = useMemo(() => deviceColumns(setRevoking), []);
  const revoked = (): void => {
    flushSync(() => setRevoking(undefined));
    heading.current?.focus();
  };
  return (
    <section aria-labelledby="devices" className="grid gap-3">
      <title>Devices · Covenant</title>
      <div className="flex flex-wrap items-center gap-3">
        <h2 ref={heading} id="devices" tabIndex={-1}>
          Devices
        </h2>
        <Link to="/setup/authorize" className="button ml-auto">
          Approve a device
        </Link>
      </div>
      <p className="text-muted">A machine that is set up shows a code. Whoever approves it here gives each of its agents a token, in their own name.</p>
      {isOperator && <WaitingDevices />}
      <div className="panel">
        {error && <Problem what="The devices could not be read." error={error} onRetry={() => void refetch()} />}
        {!data && !error && <TableSkeleton />}
        {data?.total === 0 && (
          <Nothing>
            <p>No machine was set up yet. In a repository on it, this sets up all its agents, and shows a code to be approved here:</p>
            <SetupCommand />
            <InstalledFirst />
            <p>One agent alone is connected by:</p>
            <CliCommand words="connect claude-code" />
          </Nothing>
        )}
        {data && data.items.length > 0 && <Table label="Devices, newest first" columns={columns} rows={data.items} rowKey={({ device_id }) => device_id} />}
        {data && data.total > data.items.length && (
          <div className="flex flex-wrap items-center justify-center gap-3 border-t border-line p-3 text-muted">
            {data.items.length} of {counted(data.total, 'device')}
            {limit === FEW && (
              <button type="button" className="button text-text" onClick={() => setLimit(MANY)}>
                Show more devices
              </button>
            )}
          </div>
        )}
      </div>
      <details>
        <summary className="cursor-pointer text-muted">As a command</summary>
        <div className="mt-2">
          <CliCommand words="devices list" />
        </div>
      </details>
      {revoking && <RevokeDevice device={revoking} onClose={() => setRevoking(undefined)} onRevoked={revoked} />}
    </section>
  );
}
