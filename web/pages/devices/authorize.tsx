import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import type { ActionResult } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { AsCommand, CliCommand } from '../../parts/command.tsx';
import { Facts } from '../../parts/facts.tsx';
import { TextField } from '../../parts/field.tsx';
import { Notice, Problem } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { counted, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { namesOf } from '../identity/agent.ts';

type Decided = { approved: ActionResult<'devices.approve'> } | { refused: ActionResult<'devices.refuse'> };

/** The page on which a person approves a new machine. During setup, the machine shows the address of this page. */
export function Authorize() {
  const [{ code }, change] = usePageSearch('/setup/authorize');
  const [decided, setDecided] = useState<Decided>();
  const look = (typed: string): void => {
    setDecided(undefined);
    void change({ code: typed });
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
  if (data) return <DeviceRequest request={data} onDecided={onDecided} />;
  if (!error) return <TableSkeleton />;
  return (
    <>
      <Problem what={`Code ${code} was not found.`} error={error} onRetry={() => void refetch()} />
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
          Rejected. <UntrustedText text={decided.refused.machine_name} /> gets no token. You can close this page.
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

/** Shown after the approval. The machine fetches its tokens within a few seconds, and an event then updates this page. */
function Approved({ device: { device_id, machine_name, agents } }: { device: ActionResult<'devices.approve'> }) {
  const isSetUp = useRead('devices.list', { limit: 50 }).data?.items.find((device) => device.device_id === device_id)?.status === 'set up';
  return (
    <Notice tone={isSetUp ? 'good' : 'live'} role="status">
      {isSetUp ? (
        <>
          Set up. <UntrustedText text={machine_name} /> has received {counted(agents.length, 'token')} for {namesOf(agents)}. You can close this page.
        </>
      ) : (
        <>
          Approved. <UntrustedText text={machine_name} /> receives {counted(agents.length, 'token')} within seconds.
        </>
      )}
    </Notice>
  );
}

/**
 * Shows which machine asks for access and what an approval would give it. The server has verified only the machine's address and the time; the rest is what
 * the machine says about itself.
 */
function DeviceRequest({ request, onDecided }: { request: ActionResult<'devices.find'>; onDecided: (decided: Decided) => void }) {
  const me = useRead('identity.me', {}).data;
  const approve = useAct('devices.approve');
  const refuse = useAct('devices.refuse');
  const { user_code: code, machine_name, agents, source, asked_at, expires_at } = request;
  const pending = approve.isPending || refuse.isPending;
  return (
    <section aria-label="Device request" className="panel grid gap-4 p-4">
      <p className="mono text-title font-semibold tracking-widest">{code}</p>
      <Facts
        facts={{
          Machine: <UntrustedText text={machine_name} />,
          Requests: `${counted(agents.length, 'token')}: ${namesOf(agents)}`,
          Address: <code>{source}</code>,
          Requested: <Time at={asked_at} />,
          Expires: <Until at={expires_at} />,
        }}
      />
      <Notice tone="wait">
        Approve only a setup that you started, and only if the device shows this code. Its agents then act as <UntrustedText text={me?.developer ?? 'you'} />.
      </Notice>
      {approve.error && <Problem what="The device was not approved." error={approve.error} />}
      {refuse.error && <Problem what="The device was not rejected." error={refuse.error} />}
      <div className="flex flex-wrap gap-2">
        <ActButton look="primary" pending={pending} onClick={() => approve.mutate({ code }, { onSuccess: (approved) => onDecided({ approved }) })}>
          Approve
        </ActButton>
        <ActButton look="bad" pending={pending} onClick={() => refuse.mutate({ code }, { onSuccess: (refused) => onDecided({ refused }) })}>
          Reject
        </ActButton>
      </div>
      <AsCommand>
        <CliCommand words={`devices approve ${code}`} options={{ developer: me?.developer ?? undefined }} />
        <CliCommand words={`devices reject ${code}`} />
      </AsCommand>
    </section>
  );
}

const LETTERS = 8;
const lettersIn = (text: string): string => text.toUpperCase().replace(/[^A-Z]/g, '');

/** The form for the code that the new machine shows. */
function CodeForm({ onCode }: { onCode: (code: string) => void }) {
  const [text, setText] = useState('');
  const letters = lettersIn(text);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onCode(`${letters.slice(0, LETTERS / 2)}-${letters.slice(LETTERS / 2)}`);
  };
  return (
    <form onSubmit={submit} aria-label="Code of the device" className="grid max-w-sm gap-3">
      <p className="text-muted">Enter the 8-letter code that the new machine shows. A code works once and expires after 10 minutes.</p>
      <TextField
        label="Code"
        hint="for example BQPX-FGQR"
        mono
        className="h-11 text-section tracking-widest uppercase"
        max={20}
        value={text}
        onChange={setText}
      />
      <button type="submit" className="button button-primary justify-self-start" disabled={letters.length !== LETTERS}>
        Continue
      </button>
    </form>
  );
}
