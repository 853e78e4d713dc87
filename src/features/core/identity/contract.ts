import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import { contract, MEMBER_READ, title } from '../../../kernel/contract.ts';

const developerName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}@]+$/u, { error: 'expected a name without control characters and "@"' });

const LIFETIME =
  "How long the token lasts. Left out: an agent's token lasts as long as `agent_token_days` in `[limits]` of config.toml says, any other until it is revoked.";

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
  description: 'Mints a token for a developer, who is created on first use by the operator, or for the signed-in developer. The token is shown once.',
  input: z.strictObject({
    developer: developerName.optional().describe('Whose token; the signed-in developer where it is left out.'),
    agent: z.enum(CLIENT_NAMES).optional().describe('The agent that will carry it.'),
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
  description: "The workspace's tokens without their values, newest first: all to the operator, a developer's own to that developer.",
  input: z.strictObject({
    token_id: z.string().min(1).max(64).optional().describe('This one alone.'),
    own: z.boolean().optional().describe("The signed-in developer's alone, also where the caller could see everybody's."),
    status: z.enum(['live', 'ended']).optional(),
    expiring: z.boolean().optional().describe('Agent tokens alone that expire within 7 days.'),
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
  description: 'The token is refused from the next call on.',
  input: z.strictObject({ token_id: z.string().min(1).max(64).describe('The id, or an unambiguous tail of it.') }),
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
    'Replaces the secret of a token and keeps its id, so that its sessions, claims, grants and roles continue. The old secret is accepted until the overlap is over. The new one is shown once.',
  input: z.strictObject({
    token_id: z.string().min(1).max(64).describe('The id, or an unambiguous tail of it.'),
    overlap_minutes: z.int().min(0).max(10_080).default(1_440).describe('How long the old secret is still accepted. 0: it ends at once.'),
    expires_in_minutes: z
      .int()
      .min(1)
      .max(525_600)
      .optional()
      .describe("How long the token lasts from now on. Left out: an agent's token gets its full lifetime again, any other keeps its expiry."),
  }),
  output: z.strictObject({ token: z.string(), token_id: z.string(), old_ends_at: z.int(), expires_at: z.int().nullable() }),
});

export const createSigninLink = contract({
  name: 'signin.link',
  fresh: true,
  toolset: 'admin',
  title: 'Make a sign-in link',
  description: 'A link that signs a developer in to the dashboard, once, within ten minutes.',
  input: z.strictObject({ developer: developerName.optional().describe("Whom; the workspace's first developer where it is left out.") }),
  output: z.strictObject({ path: z.string(), developer: z.string(), expires_at: z.int() }),
});

export const developerView = z.strictObject({
  developer_id: z.string(),
  name: z.string(),
  role: z.enum(['admin', 'member']),
  visibility: z.enum(['team', 'private']),
  run_agents: z.boolean().describe('May run agents on the server’s machine, where their role allows it too.'),
  created_at: z.int(),
});

export const listDevelopers = contract({
  ...MEMBER_READ,
  name: 'developers.list',
  title: 'List developers',
  description: 'Who is in the workspace. Private developers appear as @private to everybody but themselves.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(developerView) }),
});

export const setVisibility = contract({
  name: 'developers.set_visibility',
  toolset: 'admin',
  access: 'member',
  title: 'Set visibility',
  description: 'Makes a developer private (shown as @private everywhere) or visible to the team again.',
  input: z.strictObject({ developer: developerName.optional(), visibility: z.enum(['team', 'private']) }),
  output: developerView,
  annotations: { idempotentHint: true },
});

export const signOutDeveloper = contract({
  name: 'developers.sign_out',
  toolset: 'admin',
  access: 'member',
  title: 'Sign out everywhere',
  description: 'Ends every dashboard session of a developer with its open connections, and voids their unused sign-in links. Tokens of agents stay.',
  input: z.strictObject({ developer: developerName.optional().describe('Whose sessions; those of the signed-in developer where it is left out.') }),
  output: z.strictObject({ developer: z.string(), sessions: z.int().describe('How many ended.') }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const endSession = contract({
  name: 'session.end',
  toolset: 'admin',
  access: 'member',
  title: 'Sign out',
  description: 'Ends the dashboard session that calls.',
  input: z.strictObject({}),
  output: z.strictObject({ ended: z.literal(true) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

/** Addresses that a browser opens without a header of the page's own. */
const TICKETED = /^\/api\/(events|events\/export|instances\/[\w-]{1,100}\/terminal)$/;

export const sessionTicket = contract({
  name: 'session.ticket',
  toolset: 'admin',
  access: 'member',
  quiet: true,
  title: 'Get a ticket for a socket or a download',
  description: 'A ticket that opens one address once, within 30 seconds, for the dashboard session that asks. Send it as ?ticket=… with the cookie.',
  input: z.strictObject({
    path: z
      .string()
      .regex(TICKETED, { error: 'expected /api/events, /api/events/export or /api/instances/ID/terminal' })
      .describe('The address, without its query.'),
  }),
  output: z.strictObject({ ticket: z.string(), expires_at: z.int() }),
});

export const setRunAgents = contract({
  name: 'developers.set_run_agents',
  toolset: 'admin',
  access: 'server',
  title: 'Allow a developer to run agents',
  description:
    "Lets a developer start agents, message them and type into their terminals, or no longer. They run with the rights of the server's user, so only the operator of the server decides.",
  input: z.strictObject({ developer: developerName, allowed: z.boolean() }),
  output: developerView,
  annotations: { idempotentHint: true },
});

export const whoAmI = contract({
  ...MEMBER_READ,
  name: 'identity.me',
  title: 'Who am I',
  description: 'The signed-in principal and its workspace.',
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
