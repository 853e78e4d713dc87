import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Result } from '../../api.ts';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { namesOf } from '../identity/agent.ts';
import { CodeForm } from './code-form.tsx';
import { DeviceRequest } from './device-request.tsx';

const route = getRouteApi('/setup/authorize');

type Decided = { approved: Result<'devices.approve'> } | { refused: Result<'devices.refuse'> };

/** Where a machine sends the person who sets it up. */
export function Authorize() {
  const { code } = route.useSearch();
  const navigate = useNavigate();
  const [decided, setDecided] = useState<Decided>();
  const look = (typed: string): void => {
    setDecided(undefined);
    void navigate({ to: '/setup/authorize', search: { code: typed } });
  };
  return (
    <div className="grid max-w-2xl gap-4">
      <title>Approve a device · Covenant</title>
      <h1>Approve a device</h1>
      {decided ? (
        <Outcome decided={decided} />
      ) : code === undefined ? (
        <CodeForm onCode={look} />
      ) : (
        <Waiting key={code} code={code} onDecided={setDecided} onCode={look} />
      )}
    </div>
  );
}

interface WaitingProps {
  code: string;
  onDecided: (decided: Decided) => void;
  onCode: (code: string) => void;
}

function Waiting({ code, onDecided, onCode }: WaitingProps) {
  const { data, error, refetch } = useRead('devices.find', { code });
  if (data) return <DeviceRequest request={data} onApproved={(approved) => onDecided({ approved })} onRefused={(refused) => onDecided({ refused })} />;
  if (!error) return <TableSkeleton />;
  return (
    <>
      <Problem what={`The code ${code} cannot be approved.`} error={error} onRetry={() => void refetch()} />
      <CodeForm onCode={onCode} />
    </>
  );
}

function Outcome({ decided }: { decided: Decided }) {
  const heading = useRef<HTMLElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section ref={heading} tabIndex={-1} aria-label="Outcome" className="grid gap-4 outline-none">
      {'refused' in decided ? (
        <Notice tone="quiet" role="status">
          Refused. <Said text={decided.refused.machine_name} /> gets no token. If you do not know who asked, there is nothing else to do.
        </Notice>
      ) : (
        <Approved device={decided.approved} />
      )}
      <p className="flex flex-wrap gap-x-4">
        <Link to="/settings/devices" className="link">
          All devices
        </Link>
        <Link to="/" className="link">
          Open Now
        </Link>
      </p>
    </section>
  );
}

/** The machine asks every few seconds; the journal tells when it has. */
function Approved({ device: { device_id, machine_name, agents } }: { device: Result<'devices.approve'> }) {
  const isSetUp = useRead('devices.list', { limit: 50 }).data?.items.find((device) => device.device_id === device_id)?.status === 'set up';
  return (
    <Notice tone={isSetUp ? 'good' : 'live'} role="status">
      {isSetUp ? (
        <>
          Set up. <Said text={machine_name} /> has fetched its {agents.length === 1 ? 'token' : `${agents.length} tokens`}, for {namesOf(agents)}. You can close
          this page.
        </>
      ) : (
        <>
          Approved. <Said text={machine_name} /> fetches {agents.length === 1 ? 'its token' : `its ${agents.length} tokens`} within seconds.
        </>
      )}
    </Notice>
  );
}
