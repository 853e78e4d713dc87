import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import { absolutePath, contract, id, OPERATOR_READ, READ, title } from '../../../kernel/contract.ts';
import { isUserCode, typedCode } from './user-code.ts';

const machineName = title.max(100);

/** The body of `POST /api/setup/device`, from a machine without a token. */
export const deviceRequest = z.strictObject({
  machine_name: machineName,
  agents: z
    .array(z.enum(CLIENT_NAMES))
    .min(1)
    .max(CLIENT_NAMES.length)
    .refine((agents) => new Set(agents).size === agents.length, { error: 'names an agent twice' }),
});

/** And to `POST /api/setup/device/poll`. */
export const devicePoll = z.strictObject({ device_code: z.string().min(1).max(200) });

const userCode = z
  .string()
  .max(60)
  .overwrite(typedCode)
  .refine(isUserCode, { error: 'expected a code such as BQPX-FGQR, as the machine shows it' })
  .describe('The code that the machine shows.');

export const requested = z.strictObject({
  user_code: z.string(),
  machine_name: z.string(),
  agents: z.array(z.string()),
  source: z.string().describe('The address that the request came from.'),
  asked_at: z.int(),
  expires_at: z.int(),
});

const base = { toolset: 'admin', access: 'member' } as const;

export const findDevice = contract({
  ...base,
  name: 'devices.find',
  title: 'Who asks with a code',
  description: 'The machine that shows this code and waits to be approved, with the agents it asks tokens for.',
  input: z.strictObject({ code: userCode }),
  output: requested,
  annotations: READ,
});

export const waitingDevices = contract({
  ...OPERATOR_READ,
  name: 'devices.waiting',
  title: 'Devices that wait',
  description: 'The machines that wait to be approved. They belong to no workspace yet: only operators of the default one see them without the code.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(requested) }),
});

export const approveDevice = contract({
  ...base,
  name: 'devices.approve',
  fresh: true,
  title: 'Approve a device',
  description: 'Gives each agent of the machine a token of its own, in the name of the signed-in developer. The machine fetches them once.',
  input: z.strictObject({
    code: userCode,
    developer: z.string().trim().min(1).max(100).optional().describe('In whose name; the signed-in developer where it is left out.'),
  }),
  output: z.strictObject({ device_id: z.string(), machine_name: z.string(), agents: z.array(z.string()), developer: z.string() }),
});

export const refuseDevice = contract({
  ...base,
  name: 'devices.refuse',
  title: 'Refuse a device',
  description: 'The machine is told that it was refused, and gets no token.',
  input: z.strictObject({ code: userCode }),
  output: z.strictObject({ device_id: z.string(), machine_name: z.string() }),
});

const device = z.strictObject({
  device_id: z.string(),
  machine_name: z.string(),
  developer_id: z.string(),
  developer: z.string(),
  status: z.enum(['waiting', 'set up', 'revoked', 'expired']),
  approved_at: z.int(),
  last_used_at: z.int().nullable(),
  agents: z.array(z.strictObject({ agent: z.string(), token_id: z.string().nullable(), live: z.boolean(), last_used_at: z.int().nullable() })),
});
export type DeviceView = z.output<typeof device>;

export const listDevices = contract({
  ...base,
  name: 'devices.list',
  title: 'List devices',
  description: 'The machines that were set up, newest first, with the tokens of their agents: all to operators, their own to developers.',
  input: z.strictObject({ limit: z.int().min(1).max(200).default(50), offset: z.int().min(0).default(0) }),
  output: z.strictObject({ items: z.array(device), total: z.int() }),
  annotations: READ,
});

export const revokeDevice = contract({
  ...base,
  name: 'devices.revoke',
  title: 'Revoke a device',
  description:
    "Revokes every token that the machine's setup made. Its agents are refused from the next call on; a machine that has not fetched them gets none.",
  input: z.strictObject({ device_id: id.describe('The id, or an unambiguous tail of it.') }),
  output: z.strictObject({ device_id: z.string(), revoked: z.array(z.string()) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

/** A text to run or to put into a file. */
const snippet = z.strictObject({ where: z.string(), text: z.string() });

export const agentSetup = contract({
  ...base,
  name: 'setup.agents',
  title: 'How agents are connected',
  description: 'For each agent what to run, or to put into which file, so that it uses this server: over HTTP, and by the stdio bridge.',
  input: z.strictObject({
    base_url: z
      .string()
      .max(300)
      .refine(isOrigin, { error: 'expected an http or https address of scheme, host and port alone' })
      .describe('The address at which the agent reaches this server.'),
    cwd: absolutePath.optional().describe('The folder of the repository. Default: one that is known, or a place to fill in.'),
  }),
  output: z.strictObject({
    /** Stands in the texts where the token belongs: the page that has just made one puts it there. */
    placeholder: z.string(),
    cwd: z.string(),
    /** Whether `cwd` names a repository rather than a place to fill in. */
    cwd_known: z.boolean(),
    repositories: z.array(z.string()),
    clients: z.array(z.strictObject({ client: z.enum(CLIENT_NAMES), http: snippet, stdio: snippet })),
    install: z.string(),
    block: z.string(),
    watch: z.string(),
  }),
  annotations: READ,
});

function isOrigin(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
}
