import { call, calling, type ItemOf } from '../call.ts';
import type { CliCommand } from '../command.ts';
import { age, counted, list, type TableShape } from '../output.ts';

const waits = ({ user_code, machine_name, agents, source }: ItemOf<'devices.waiting'>): string =>
  `${user_code}  ${machine_name} (${source}) asks for tokens for ${agents.join(', ')}\n    next: covenant devices approve ${user_code} --developer NAME`;

const deviceRow = ({ device_id, developer, machine_name, agents, status, last_used_at }: ItemOf<'devices.list'>): string[] => [
  device_id,
  developer,
  machine_name,
  agents.map(({ agent }) => agent).join(', '),
  status,
  age(last_used_at),
];

const DEVICES: TableShape = {
  head: ['DEVICE', 'DEVELOPER', 'MACHINE', 'AGENTS', 'STATUS', 'LAST USED'],
  narrow: [
    ['AGENTS', 12],
    ['MACHINE', 12],
    ['LAST USED', 0],
    ['DEVELOPER', 10],
    ['AGENTS', 0],
  ],
};
const CODE = { name: 'CODE', description: 'The code that the machine shows.', field: 'code' } as const;

/** Commands for the machines whose agents got their tokens through `covibe-local setup`. */
export const deviceCommands: readonly CliCommand[] = [
  {
    name: 'devices list',
    summary: 'List machines that are set up and machines that wait for approval.',
    examples: ['devices list'],
    async run(invocation) {
      const { items, total } = await call(invocation, 'devices.list');
      const waiting = (await call(invocation, 'devices.waiting')).items;
      const none = 'No machine is set up yet.\n    next: covibe-local setup, on that machine';
      const set = list(DEVICES, items.map(deviceRow), { none, columns: invocation.out.columns });
      return { json: { kind: 'device_list', items, total, waiting }, text: [...waiting.map(waits), set].join('\n') };
    },
  },
  calling({
    name: 'devices approve',
    summary: 'Approve a machine. Each of its agents gets a token.',
    arguments: [CODE],
    options: { developer: { value: 'NAME', description: 'The developer who owns the tokens.', required: true } },
    examples: ['devices approve ABCD-EFGH --developer mira'],
    action: 'devices.approve',
    kind: 'device_approved',
    text: ({ machine_name, agents, developer }) => `Approved ${machine_name} for ${developer}: ${agents.join(', ')}.`,
  }),
  calling({
    name: 'devices reject',
    formerly: ['devices refuse'],
    summary: 'Reject a machine that waits for approval.',
    arguments: [CODE],
    examples: ['devices reject ABCD-EFGH'],
    action: 'devices.refuse',
    kind: 'device_refused',
    text: ({ machine_name }) => `Rejected ${machine_name}.`,
  }),
  calling({
    name: 'devices revoke',
    summary: 'Revoke all tokens of the agents on a machine.',
    arguments: [{ name: 'DEVICE_ID', description: 'The device id, or the last characters of the id.', field: 'device_id' }],
    examples: ['devices revoke dev_01JABCDEF'],
    action: 'devices.revoke',
    kind: 'device_revoked',
    text: ({ device_id, revoked }) => `Revoked ${counted(revoked.length, 'token')} of ${device_id}.`,
  }),
];
