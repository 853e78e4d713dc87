import { z } from 'zod';
import { contract, OPERATOR_READ } from '../../../kernel/contract.ts';

export const PIN_KINDS = ['tool', 'prompt'] as const;
export type PinKind = (typeof PIN_KINDS)[number];

export const WITHHELD_REASONS = ['new', 'changed', 'gone', 'renamed', 'name_taken', 'duplicate', 'invalid'] as const;
export type WithheldReason = (typeof WITHHELD_REASONS)[number];

/** `idle`: lazy, and nobody has called yet. `stopped`: no server of Covenant runs that could have started it. */
const SERVER_STATES = ['disabled', 'stopped', 'idle', 'starting', 'up', 'down'] as const;
export type ServerState = (typeof SERVER_STATES)[number];

/** How a server runs. */
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

const server = z.string().min(1).max(100).describe('Its name in secrets.toml.');

const withheldView = z.strictObject({
  kind: z.enum(PIN_KINDS),
  name: z.string(),
  exposed: z.string(),
  reason: z.enum(WITHHELD_REASONS),
  renamed_from: z.string().nullable(),
  fingerprint: z.string().describe('Names what is withheld as it is now; empty where it cannot be approved.'),
  difference: z.array(z.strictObject({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
  rejected: z
    .strictObject({ by: z.string(), at: z.int() })
    .nullable()
    .describe('Who has said no to it as it is now; it stays withheld and can still be approved.'),
  more_changes: z.int().describe('How many more there are than are shown; servers.list of one server shows all.'),
});

const problemView = z.strictObject({ line: z.int().nullable(), server: z.string().nullable(), message: z.string() });

export const listServers = contract({
  ...OPERATOR_READ,
  name: 'servers.list',
  title: 'List external servers',
  description: 'The external MCP servers of secrets.toml, their health, and what of theirs is withheld until a person approves it.',
  input: z.strictObject({ server: server.optional().describe('This one alone, and what is withheld of it in full.') }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        name: z.string(),
        line: z.int(),
        transport: z.enum(['stdio', 'http']),
        target: z.string().describe('The program, or the origin of the address; arguments and paths may hold secrets.'),
        enabled: z.boolean(),
        lazy: z.boolean(),
        prefix: z.boolean(),
        workspaces: z.array(z.string()).describe('Those that it serves; `*` is every one.'),
        timeout_ms: z.int(),
        ...status,
        server_info: z.strictObject({ name: z.string().nullable(), version: z.string().nullable() }).nullable(),
        tools: z.int().describe('Offered.'),
        prompts: z.int().describe('Offered.'),
        resources: z.int(),
        withheld: z.array(withheldView),
      }),
    ),
    problems: z.array(problemView).describe('What is wrong in secrets.toml. Entries that are not among the items are skipped.'),
    unconfigured: z.array(z.string()).describe('Known from before and in the file no more: they keep the names of their tools until they are forgotten.'),
  }),
});

export const restartServer = contract({
  name: 'servers.restart',
  toolset: 'admin',
  title: 'Restart an external server',
  description: 'Reads secrets.toml again, ends the server and starts it anew.',
  input: z.strictObject({ server }),
  output: z.strictObject({ server: z.string(), state: status.state, problem: status.problem }),
});

const selection = z.strictObject({
  server,
  tool: z.string().min(1).max(256).optional().describe('One tool or prompt, by its own name or as it is offered.'),
  fingerprints: z.array(z.string().min(1).max(64)).max(5_000).optional().describe('From servers.list: what has changed since is left as it is.'),
});

export const approveServer = contract({
  name: 'servers.approve',
  toolset: 'admin',
  title: 'Approve changed definitions',
  description: 'Offers what is withheld of a server as it is now: all of it, one tool, or only what still is as it was shown.',
  input: selection,
  output: z.strictObject({ server: z.string(), approved: z.array(withheldView), left: z.array(withheldView) }),
});

export const rejectServer = contract({
  name: 'servers.reject',
  toolset: 'admin',
  title: 'Reject changed definitions',
  description: 'Says no to what is withheld of a server as it is now: it stays withheld, and waits on nobody until the server changes it again.',
  input: selection,
  output: z.strictObject({ server: z.string(), rejected: z.array(withheldView), left: z.array(withheldView) }),
});

export const forgetServer = contract({
  name: 'servers.forget',
  toolset: 'admin',
  title: 'Forget an external server',
  description: 'Removes what is known of a server that is in secrets.toml no more, and frees the names of its tools.',
  input: z.strictObject({ server }),
  output: z.strictObject({ server: z.string() }),
  annotations: { destructiveHint: true },
});

export const serverLogs = contract({
  ...OPERATOR_READ,
  name: 'servers.logs',
  title: "An external server's log",
  description: 'The last lines that the server wrote to its standard error, and what Covenant noted of it.',
  input: z.strictObject({ server, lines: z.int().min(1).max(1_000).default(100) }),
  output: z.strictObject({ server: z.string(), lines: z.array(z.string()) }),
});
