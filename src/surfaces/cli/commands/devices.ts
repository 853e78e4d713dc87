import type { approveDevice, DeviceView, listDevices, Requested, refuseDevice, revokeDevice, waitingDevices } from '../../../features/core/devices/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, given } from '../command.ts';
import { age, table } from '../output.ts';

const ask = asking<{
  'devices.list': Output<typeof listDevices>;
  'devices.waiting': Output<typeof waitingDevices>;
  'devices.approve': Output<typeof approveDevice>;
  'devices.refuse': Output<typeof refuseDevice>;
  'devices.revoke': Output<typeof revokeDevice>;
}>();

const waits = ({ user_code, machine_name, agents, source }: Requested): string => `${user_code}  ${machine_name} (${source}) asks for ${agents.join(', ')}`;

const row = (device: DeviceView, now: number): string[] => [
  device.device_id,
  device.developer,
  device.machine_name,
  device.agents.map(({ agent }) => agent).join(', '),
  device.status,
  age(device.last_used_at, now),
];

/** Machines whose agents got their tokens by the setup of the companion. */
export const deviceCommands: readonly CliCommand[] = [
  {
    name: 'devices list',
    summary: 'Machines that were set up, and those that wait to be approved.',
    async run(invocation) {
      const { items, total } = await ask(invocation, 'devices.list');
      const waiting = (await ask(invocation, 'devices.waiting')).items;
      const now = Date.now();
      const set = table(
        ['DEVICE', 'DEVELOPER', 'MACHINE', 'AGENTS', 'STATUS', 'LAST USED'],
        items.map((device) => row(device, now)),
      );
      const text = [...waiting.map(waits), items.length > 0 ? set : 'No device was set up yet: covibe-local setup asks for it.'].join('\n');
      return { json: { kind: 'device_list', items, total, waiting }, text };
    },
  },
  {
    name: 'devices approve',
    summary: 'Give a machine that shows this code a token for each of its agents, in the name of --developer.',
    positionals: ['CODE'],
    options: { developer: { type: 'string' } },
    async run(invocation) {
      const approved = await ask(invocation, 'devices.approve', { code: invocation.positionals[0], ...given(invocation, 'developer') });
      const { machine_name, agents, developer } = approved;
      return { json: { kind: 'device_approved', ...approved }, text: `Approved ${machine_name} for ${developer}: ${agents.join(', ')}.` };
    },
  },
  {
    name: 'devices refuse',
    summary: 'Turn away a machine that shows this code.',
    positionals: ['CODE'],
    async run(invocation) {
      const refused = await ask(invocation, 'devices.refuse', { code: invocation.positionals[0] });
      return { json: { kind: 'device_refused', ...refused }, text: `Refused ${refused.machine_name}.` };
    },
  },
  {
    name: 'devices revoke',
    summary: "Revoke every token of a machine's agents.",
    positionals: ['DEVICE_ID'],
    async run(invocation) {
      const done = await ask(invocation, 'devices.revoke', { device_id: invocation.positionals[0] });
      return {
        json: { kind: 'device_revoked', ...done },
        text: `Revoked ${done.revoked.length === 1 ? '1 token' : `${done.revoked.length} tokens`} of ${done.device_id}.`,
      };
    },
  },
];
