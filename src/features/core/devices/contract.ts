import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import { absolutePath, contract, id, OPERATOR_READ, READ, title } from '../../../kernel/contract.ts';
import { isUserCode, typedCode } from './user-code.ts';

const machineName = title.max(100);

/** The body of `POST /api/setup/device`, which a machine without a token sends. */
export const deviceRequest = z.strictObject({
  machine_name: machineName,
  agents: z
    .array(z.enum(CLIENT_NAMES))
    .min(1)
    .max(CLIENT_NAMES.length)
    .refine((agents) => new Set(agents).size === agents.length, { error: 'names an agent twice' }),
});

/** Body of `POST /api/setup/device/poll`. */
export const devicePoll = z.strictObject({ device_code: z.string().min(1).max(200) });

const userCode = z
  .string()
  .max(60)
  .overwrite(typedCode)
  .refine(isUserCode, { error: 'expected a code such as BQPX-FGQR, as shown on the machine' })
  .describe('Code shown on the machine.');

export const requested = z.strictObject({
  user_code: z.string(),
  machine_name: z.string(),
  agents: z.array(z.string()),
  source: z.string().describe('Address of the request.'),
  asked_at: z.int(),
  expires_at: z.int(),
});

const base = { toolset: 'admin', access: 'member' } as const;

export const findDevice = contract({
  ...base,
  name: 'devices.find',
  title: 'Find a device by code',
  description: 'Find the machine that shows this code and waits for approval, with the agents it requests tokens for.',
  input: z.strictObject({ code: userCode }),
  output: requested,
  annotations: READ,
});

export const waitingDevices = contract({
  ...OPERATOR_READ,
  name: 'devices.waiting',
  title: 'List waiting devices',
  description: 'List machines waiting for approval. They belong to no workspace yet, so only operators of the default workspace can list them.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(requested) }),
});

export const approveDevice = contract({
  ...base,
  name: 'devices.approve',
  fresh: true,
  title: 'Approve a device',
  description: 'Give each agent of the machine its own token for a developer. The machine fetches the tokens once.',
  input: z.strictObject({
    code: userCode,
    developer: z.string().trim().min(1).max(100).optional().describe('Owner of the tokens; default: the signed-in developer.'),
  }),
  output: z.strictObject({ device_id: z.string(), machine_name: z.string(), agents: z.array(z.string()), developer: z.string() }),
});

export const refuseDevice = contract({
  ...base,
  name: 'devices.refuse',
  title: 'Refuse a device',
  description: 'Refuse a waiting machine. It gets no token.',
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
  description: 'List the machines that were set up, newest first, with the tokens of their agents. Operators see all machines, developers only their own.',
  input: z.strictObject({ limit: z.int().min(1).max(200).default(50), offset: z.int().min(0).default(0) }),
  output: z.strictObject({ items: z.array(device), total: z.int() }),
  annotations: READ,
});

export const revokeDevice = contract({
  ...base,
  name: 'devices.revoke',
  title: 'Revoke a device',
  description:
    "Revoke every token that was created by the machine's setup. The server refuses its agents from their next call on. Tokens that the machine has not fetched yet are never given out.",
  input: z.strictObject({ device_id: id.describe('Device id, or an unambiguous end of it.') }),
  output: z.strictObject({ device_id: z.string(), revoked: z.array(z.string()) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

/** A text that a person runs as a command or adds to a file, and the place for it. */
const snippet = z.strictObject({ where: z.string(), text: z.string() });

export const agentSetup = contract({
  ...base,
  name: 'setup.agents',
  title: 'Agent setup instructions',
  description: 'Show for each agent the command or config file that connects it to this server, over HTTP and through the stdio bridge.',
  input: z.strictObject({
    base_url: z
      .string()
      .max(300)
      .refine(isOrigin, { error: 'expected an http or https origin: scheme, host and port only' })
      .describe('Address at which the agent reaches this server.'),
    cwd: absolutePath.optional().describe('Repository folder. Default: a folder that the server knows, or a placeholder.'),
  }),
  output: z.strictObject({
    /** The placeholder for the token in the texts. The page that created the token replaces it with the token. */
    placeholder: z.string(),
    cwd: z.string(),
    /** True if `cwd` is a known repository. False if it is a placeholder. */
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
