import type { Device } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Said } from '../../parts/said.tsx';
import { useAct } from '../../queries.ts';
import { namesOf } from '../identity/agent.ts';

interface RevokeDeviceProps {
  device: Device;
  onClose: () => void;
  onRevoked: () => void;
}

/** Tokens cannot be given back: it is confirmed by the end of the id, which everybody can type. */
export function RevokeDevice({ device: { device_id, machine_name, agents }, onClose, onRevoked }: RevokeDeviceProps) {
  const revoke = useAct('devices.revoke');
  const live = agents.filter((agent) => agent.live).map(({ agent }) => agent);
  return (
    <Confirm
      title="Revoke this device?"
      act={`Revoke ${counted(live.length, 'token')}`}
      typed={device_id.slice(-6)}
      pending={revoke.isPending}
      error={revoke.error}
      failed="The device was not revoked."
      onAct={() => revoke.mutate({ device_id }, { onSuccess: onRevoked })}
      onClose={onClose}
    >
      <p>
        {namesOf(live)} on <Said text={machine_name} /> {live.length === 1 ? 'is' : 'are'} refused from the next call on. This cannot be undone: the machine has
        to be set up again.
      </p>
      <CliCommand words={`devices revoke ${device_id}`} />
    </Confirm>
  );
}
