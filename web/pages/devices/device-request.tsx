import type { Result } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts } from '../../parts/side-panel.tsx';
import { dateOf, Time } from '../../parts/time.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useAct, useRead } from '../../queries.ts';
import { namesOf } from '../identity/agent.ts';

interface DeviceRequestProps {
  request: Result<'devices.find'>;
  onApproved: (approved: Result<'devices.approve'>) => void;
  onRefused: (refused: Result<'devices.refuse'>) => void;
}

/** What asks, and what approving it gives away. Nothing of it is known to be true but the address and the time. */
export function DeviceRequest({ request, onApproved, onRefused }: DeviceRequestProps) {
  const me = useRead('identity.me', {}).data;
  const approve = useAct('devices.approve');
  const refuse = useAct('devices.refuse');
  const { user_code: code, machine_name, agents, source, asked_at, expires_at } = request;
  const pending = approve.isPending || refuse.isPending;
  return (
    <section aria-label="Device that waits" className="panel grid gap-4 p-4">
      <p className="mono text-title font-semibold tracking-widest">{code}</p>
      <Facts>
        <Fact name="Machine">
          <Said text={machine_name} />
        </Fact>
        <Fact name="Asks for">
          {counted(agents.length, 'token')}: {namesOf(agents)}
        </Fact>
        <Fact name="Address">
          <code>{source}</code>
        </Fact>
        <Fact name="Asked">
          <Time at={asked_at} />
        </Fact>
        <Fact name="Good until">{dateOf(expires_at)}</Fact>
      </Facts>
      <Notice tone="wait">
        Approve only what you started yourself, and only if the device shows this very code. Its agents then act as <Said text={me?.developer ?? 'you'} />.
      </Notice>
      {approve.error && <Problem what="The device was not approved." error={approve.error} />}
      {refuse.error && <Problem what="The device was not refused." error={refuse.error} />}
      <div className="flex flex-wrap gap-2">
        <ActButton look="primary" pending={pending} onClick={() => approve.mutate({ code }, { onSuccess: onApproved })}>
          Approve
        </ActButton>
        <ActButton look="bad" pending={pending} onClick={() => refuse.mutate({ code }, { onSuccess: onRefused })}>
          Refuse
        </ActButton>
      </div>
      <details>
        <summary className="cursor-pointer text-muted">As a command</summary>
        <div className="mt-2 grid gap-2">
          <CliCommand words={`devices approve ${code}`} options={{ developer: me?.developer ?? undefined }} />
          <CliCommand words={`devices refuse ${code}`} />
        </div>
      </details>
    </section>
  );
}
