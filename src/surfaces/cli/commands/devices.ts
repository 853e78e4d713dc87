import { call, calling, type ItemOf } from '../call.ts';
import type { CliCommand } from '../command.ts';
import { age, counted, list } from '../output.ts';

const waits = ({ user_code, machine_name, agents, source }: ItemOf<'devices.waiting'>): string =>
  `${user_code}  ${machine_name} (${source}) asks for ${agents.join(', ')}`;

const deviceRow = ({ device_id, developer, machine_name, agents, status, last_used_at }: ItemOf<'devices.list'>): string[] => [
  device_id,
  developer,
  machine_name,
  agents.map(({ agent }) => agent).join(', '),
  status,
  age(last_used_at),
];

/** Machines whose agents got their tokens by the setup of the companion. */
export const deviceCommands: readonly CliCommand[] = [
  {
    name: 'devices list',
    summary: 'Machines that were set up, and those that wait to be approved.',
    async run(invocation) {
      const { items, total } = await call(invocation, 'devices.list');
      const waiting = (await call(invocation, 'devices.waiting')).items;
      const head = ['DEVICE', 'DEVELOPER', 'MACHINE', 'AGENTS', 'STATUS', 'LAST USED'];
      const set = list(head, items.map(deviceRow), 'No device was set up yet: covibe-local setup asks for it.');
      return { json: { kind: 'device_list', items, total, waiting }, text: [...waiting.map(waits), set].join('\n') };
    },
  },
  calling({
    name: 'devices approve',
    summary: 'Give a machine that shows this code a token for each of its agents, in the name of --developer.',
    positionals: { CODE: 'code' },
    options: { developer: { type: 'string' } },
    action: 'devices.approve',
    kind: 'device_approved',
    text: ({ machine_name, agents, developer }) => `Approved ${machine_name} for ${developer}: ${agents.join(', ')}.`,
  }),
  calling({
    name: 'devices refuse',
    summary: 'Turn away a machine that shows this code.',
    positionals: { CODE: 'code' },
    action: 'devices.refuse',
    kind: 'device_refused',
    text: ({ machine_name }) => `Refused ${machine_name}.`,
  }),
  calling({
    name: 'devices revoke',
    summary: "Revoke every token of a machine's agents.",
    positionals: { DEVICE_ID: 'device_id' },
    action: 'devices.revoke',
    kind: 'device_revoked',
    text: ({ device_id, revoked }) => `Revoked ${counted(revoked.length, 'token')} of ${device_id}.`,
  }),
];
