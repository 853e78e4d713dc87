import { z } from 'zod';
import { contract, OPERATOR_READ } from '../../../kernel/contract.ts';

export const PIN_KINDS = ['tool', 'prompt'] as const;
export type PinKind = (typeof PIN_KINDS)[number];

export const WITHHELD_REASONS = ['new', 'changed', 'gone', 'renamed', 'name_taken', 'duplicate', 'invalid'] as const;
export type WithheldReason = (typeof WITHHELD_REASONS)[number];

/** `idle`: the server is lazy and was not called yet. `stopped`: no Covenant server is running that could start it. */
const SERVER_STATES = ['disabled', 'stopped', 'idle', 'starting', 'up', 'down'] as const;
export type ServerState = (typeof SERVER_STATES)[number];

/** Runtime state of a server. */
const status = {
  state: z.enum(SERVER_STATES),
  problem: z.string().nullable(),
  pid: z.int().nullable(),
  since: z.int().nullable(),
  restarts: z.int(),
  next_start_at: z.int().nullable(),
  protocol_version: z.string().nullable(),
};
export type ServerStatus = { readonly [K in keyof typeof status]: z.output<(typeof status)[K]> };

const server = z.string().min(1).max(100).describe('Name in secrets.toml.');

const withheldView = z.strictObject({
  kind: z.enum(PIN_KINDS),
  name: z.string(),
  exposed: z.string(),
  reason: z.enum(WITHHELD_REASONS),
  renamed_from: z.string().nullable(),
  fingerprint: z.string().describe('Identifies the current definition; empty if it cannot be approved.'),
  difference: z.array(z.strictObject({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
  rejected: z
    .strictObject({ by: z.string(), at: z.int() })
    .nullable()
    .describe('Rejection of the current definition. It stays withheld and can still be approved.'),
  more_changes: z.int().describe('Number of changes not shown; servers.list of one server shows all.'),
});

const problemView = z.strictObject({ line: z.int().nullable(), server: z.string().nullable(), message: z.string() });

export const listServers = contract({
  ...OPERATOR_READ,
  name: 'servers.list',
  title: 'List external servers',
  description: 'List the external MCP servers of secrets.toml with their health and their definitions withheld for approval.',
  input: z.strictObject({ server: server.optional().describe('Only this server, with full details of withheld definitions.') }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        name: z.string(),
        line: z.int(),
        transport: z.enum(['stdio', 'http']),
        target: z.string().describe('Program, or origin of the address. Arguments and paths are omitted, because they may contain secrets.'),
        enabled: z.boolean(),
        lazy: z.boolean(),
        prefix: z.boolean(),
        workspaces: z.array(z.string()).describe('Workspaces that it serves; `*` for all.'),
        timeout_ms: z.int(),
        ...status,
        server_info: z.strictObject({ name: z.string().nullable(), version: z.string().nullable() }).nullable(),
        tools: z.int().describe('Offered.'),
        prompts: z.int().describe('Offered.'),
        resources: z.int(),
        withheld: z.array(withheldView),
      }),
    ),
    problems: z.array(problemView).describe('Faults in secrets.toml. Faulty entries are skipped and missing in `items`.'),
    unconfigured: z.array(z.string()).describe('Known servers that are not in the file any more. Their tool names stay reserved until they are forgotten.'),
  }),
});

export const restartServer = contract({
  name: 'servers.restart',
  toolset: 'admin',
  title: 'Restart an external server',
  description: 'Read secrets.toml again, stop the server and start it.',
  input: z.strictObject({ server }),
  output: z.strictObject({ server: z.string(), state: status.state, problem: status.problem }),
});

const selection = z.strictObject({
  server,
  tool: z.string().min(1).max(256).optional().describe('One tool or prompt, by its own or its exposed name.'),
  fingerprints: z
    .array(z.string().min(1).max(64))
    .max(5_000)
    .optional()
    .describe('Fingerprints from servers.list. Definitions that changed since then are skipped.'),
});

export const approveServer = contract({
  name: 'servers.approve',
  toolset: 'admin',
  title: 'Approve changed definitions',
  description: 'Offer the withheld definitions of a server: all, one tool, or only those unchanged since they were shown.',
  input: selection,
  output: z.strictObject({ server: z.string(), approved: z.array(withheldView), left: z.array(withheldView) }),
});

export const rejectServer = contract({
  name: 'servers.reject',
  toolset: 'admin',
  title: 'Reject changed definitions',
  description: 'Reject the withheld definitions of a server: they stay withheld and need no decision until the server changes them again.',
  input: selection,
  output: z.strictObject({ server: z.string(), rejected: z.array(withheldView), left: z.array(withheldView) }),
});

export const forgetServer = contract({
  name: 'servers.forget',
  toolset: 'admin',
  title: 'Forget an external server',
  description: 'Delete what is stored about a server that is not in secrets.toml any more, and free its tool names.',
  input: z.strictObject({ server }),
  output: z.strictObject({ server: z.string() }),
  annotations: { destructiveHint: true },
});

export const serverLogs = contract({
  ...OPERATOR_READ,
  name: 'servers.logs',
  title: "Read an external server's log",
  description: "Read the last lines that the server wrote to standard error, with Covenant's notes.",
  input: z.strictObject({ server, lines: z.int().min(1).max(1_000).default(100) }),
  output: z.strictObject({ server: z.string(), lines: z.array(z.string()) }),
});
