import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import { contract, MEMBER_READ, title } from '../../../kernel/contract.ts';

const developerName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}@]+$/u, { error: 'expected a name without control characters and "@"' });

const LIFETIME = "Lifetime of the token. Default: `agent_token_days` in `[limits]` of config.toml for agents' tokens; others last until revoked.";

const label = title.max(100).optional();

export const tokenView = z.strictObject({
  token_id: z.string(),
  kind: z.enum(['operator', 'developer', 'agent', 'instance', 'web']),
  developer_id: z.string().nullable(),
  developer: z.string().nullable(),
  agent: z.string().nullable(),
  instance_id: z.string().nullable(),
  label: z.string(),
  created_at: z.int(),
  expires_at: z.int().nullable(),
  last_used_at: z.int().nullable(),
  status: z.enum(['live', 'expired', 'revoked']),
});

export const createToken = contract({
  name: 'tokens.create',
  opensWorkspace: true,
  fresh: true,
  toolset: 'admin',
  access: 'member',
  title: 'Create a token',
  description:
    'Create a token for the named developer or the signed-in developer. If an operator names a new developer, that developer is created. The token is shown once.',
  input: z.strictObject({
    developer: developerName.optional().describe('Owner of the token; default: the signed-in developer.'),
    agent: z.enum(CLIENT_NAMES).optional().describe('Agent that uses the token.'),
    label,
    expires_in_minutes: z.int().min(1).max(525_600).optional().describe(LIFETIME),
  }),
  output: z.strictObject({
    token: z.string(),
    token_id: z.string(),
    developer_id: z.string(),
    developer: z.string(),
    label: z.string(),
    agent: z.string().nullable(),
    expires_at: z.int().nullable().describe('Null: it does not expire.'),
  }),
});

export const listTokens = contract({
  ...MEMBER_READ,
  name: 'tokens.list',
  title: 'List tokens',
  description: 'List tokens without their values, newest first. Operators see all tokens, developers only their own.',
  input: z.strictObject({
    token_id: z.string().min(1).max(64).optional().describe('Only this token.'),
    own: z.boolean().optional().describe("Only the signed-in developer's tokens, even if the caller can see all."),
    status: z.enum(['live', 'ended']).optional(),
    expiring: z.boolean().optional().describe('Only agent tokens that expire within 7 days.'),
    limit: z.int().min(1).max(1_000).default(1_000),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({ items: z.array(tokenView), total: z.int() }),
});

export const revokeToken = contract({
  name: 'tokens.revoke',
  toolset: 'admin',
  access: 'member',
  title: 'Revoke a token',
  description: 'Revoke a token with immediate effect.',
  input: z.strictObject({ token_id: z.string().min(1).max(64).describe('Token id, or an unambiguous end of it.') }),
  output: z.strictObject({ token_id: z.string(), revoked_at: z.int() }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const rotateToken = contract({
  name: 'tokens.rotate',
  fresh: true,
  toolset: 'admin',
  access: 'member',
  title: 'Rotate a token',
  description:
    'Replace the secret of a token and keep its id, so that its sessions, claims, grants and roles continue. The old secret works until the overlap ends. The new one is shown once.',
  input: z.strictObject({
    token_id: z.string().min(1).max(64).describe('Token id, or an unambiguous end of it.'),
    overlap_minutes: z.int().min(0).max(10_080).default(1_440).describe('Minutes during which the old secret still works. 0: it stops working at once.'),
    expires_in_minutes: z
      .int()
      .min(1)
      .max(525_600)
      .optional()
      .describe("Lifetime from now on. Default: an agent's token gets its full lifetime again, and any other token keeps its expiry."),
  }),
  output: z.strictObject({ token: z.string(), token_id: z.string(), old_ends_at: z.int(), expires_at: z.int().nullable() }),
});

export const createSigninLink = contract({
  name: 'signin.link',
  fresh: true,
  toolset: 'admin',
  title: 'Create a sign-in link',
  description: 'Create a link that signs a developer in to the dashboard once, within ten minutes.',
  input: z.strictObject({ developer: developerName.optional().describe("Developer to sign in; default: the workspace's first developer.") }),
  output: z.strictObject({ path: z.string(), developer: z.string(), expires_at: z.int() }),
});

export const developerView = z.strictObject({
  developer_id: z.string(),
  name: z.string(),
  role: z.enum(['admin', 'member']),
  visibility: z.enum(['team', 'private']),
  run_agents: z.boolean().describe('May run agents on the server’s machine, if their role also allows it.'),
  created_at: z.int(),
});

export const listDevelopers = contract({
  ...MEMBER_READ,
  name: 'developers.list',
  title: 'List developers',
  description: 'List the developers of the workspace. A private developer appears to other people as @private.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(developerView) }),
});

export const setVisibility = contract({
  name: 'developers.set_visibility',
  toolset: 'admin',
  access: 'member',
  title: 'Set visibility',
  description: 'Make a developer private (shown as @private everywhere) or visible to the team again.',
  input: z.strictObject({ developer: developerName.optional(), visibility: z.enum(['team', 'private']) }),
  output: developerView,
  annotations: { idempotentHint: true },
});

export const signOutDeveloper = contract({
  name: 'developers.sign_out',
  toolset: 'admin',
  access: 'member',
  title: 'Sign out everywhere',
  description: 'End every dashboard session of a developer with its open connections, and void their unused sign-in links. Agent tokens stay valid.',
  input: z.strictObject({ developer: developerName.optional().describe('Default: the signed-in developer.') }),
  output: z.strictObject({ developer: z.string(), sessions: z.int().describe('Number of ended sessions.') }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const endSession = contract({
  name: 'session.end',
  toolset: 'admin',
  access: 'member',
  title: 'Sign out',
  description: 'End the calling dashboard session.',
  input: z.strictObject({}),
  output: z.strictObject({ ended: z.literal(true) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

/** The paths that a browser requests itself, so that the page cannot add a header. */
const TICKETED = /^\/api\/(events|events\/export|instances\/[\w-]{1,100}\/terminal)$/;

export const sessionTicket = contract({
  name: 'session.ticket',
  toolset: 'admin',
  access: 'member',
  quiet: true,
  title: 'Get a ticket for a socket or a download',
  description: 'Get a one-time ticket for one path, valid for 30 seconds in the calling dashboard session. Send it as ?ticket=… with the cookie.',
  input: z.strictObject({
    path: z.string().regex(TICKETED, { error: 'expected /api/events, /api/events/export or /api/instances/ID/terminal' }).describe('Path without its query.'),
  }),
  output: z.strictObject({ ticket: z.string(), expires_at: z.int() }),
});

export const setRunAgents = contract({
  name: 'developers.set_run_agents',
  toolset: 'admin',
  access: 'server',
  title: 'Allow a developer to run agents',
  description:
    "Allow or forbid a developer to start agents, message them and type into their terminals. Agents run with the rights of the server's user, so only the operator of the server decides.",
  input: z.strictObject({ developer: developerName, allowed: z.boolean() }),
  output: developerView,
  annotations: { idempotentHint: true },
});

export const whoAmI = contract({
  ...MEMBER_READ,
  name: 'identity.me',
  title: 'Who am I',
  description: 'Show the signed-in principal and its workspace.',
  input: z.strictObject({}),
  output: z.strictObject({
    kind: z.enum(['operator', 'developer', 'agent', 'instance']),
    workspace: z.string(),
    token_id: z.string(),
    developer_id: z.string().nullable(),
    developer: z.string().nullable(),
    operator: z.boolean(),
    run_agents: z.boolean().describe('May run agents on the server’s machine.'),
  }),
});
