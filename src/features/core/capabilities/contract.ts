import { z } from 'zod';
import { contract, MEMBER_READ, OPERATOR_READ } from '../../../kernel/contract.ts';
import { capabilityFor } from '../../../kernel/registry.ts';

export const grantScope = z.strictObject({
  max_uses: z.int().min(1).max(1_000_000_000).optional().describe('Total number of calls.'),
  max_per_minute: z.int().min(1).max(600).optional().describe('Calls in any 60 seconds.'),
  expires_at: z.int().min(0).optional().describe('Epoch milliseconds; valid through that millisecond.'),
  arguments: z
    .strictObject({ allow: z.array(z.record(z.string(), z.unknown())).min(1).max(100) })
    .optional()
    .describe('The whole argument object must equal one entry.'),
  approve: z
    .union([z.boolean(), z.literal('client')], { error: 'expected true, false or "client"' })
    .optional()
    .describe('true: each call waits for a person to approve it on the dashboard or command line. "client": the caller’s own client may approve it too.'),
});
export type GrantScope = z.output<typeof grantScope>;

/** If several statuses apply to a grant, the last of them in this list is shown. */
export const GRANT_STATUSES = ['live', 'exhausted', 'expired', 'revoked'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

/**
 * `tool.call.<name>`, `resource.read.<server>`, `prompt.get.<prompt>` or a toolset of native tools. Action names are compared
 * exactly, without wildcards.
 */
export const actionName = z
  .string()
  .max(200)
  .regex(/^((tool\.call|resource\.read|prompt\.get)\.[A-Za-z0-9_.-]{1,128}|toolset\.(team|review|workflow|cycle))$/, {
    error: 'expected tool.call.<tool>, resource.read.<server>, prompt.get.<prompt>, or toolset.team, toolset.review, toolset.workflow or toolset.cycle',
  })
  .overwrite((action) => (action.startsWith('tool.call.') ? capabilityFor('tool', action.slice('tool.call.'.length)) : action));

const id = z.string().min(1).max(64);

/** At most one of these fields may be set. If none is set, the subject is the operator. */
const subjectFields = {
  developer: z.string().min(1).max(100).optional().describe('Developer name; the grant covers all of their tokens.'),
  token: id.optional().describe('Token id, or an unambiguous end of it.'),
  instance: id.optional().describe('Instance id.'),
};

export const grantView = z.strictObject({
  grant_id: z.string(),
  subject: z.string(),
  subject_name: z.string(),
  action: z.string(),
  scope: grantScope,
  uses: z.int(),
  status: z.enum(GRANT_STATUSES),
  granted_by: z.string(),
  granted_by_name: z.string(),
  granted_at: z.int(),
  revision: z.int(),
});

export const grantCapability = contract({
  name: 'capabilities.grant',
  fresh: true,
  toolset: 'admin',
  title: 'Grant a capability',
  description: 'Allow a subject to call a tool or toolset, optionally limited by uses, rate, time, arguments or approval of each call.',
  input: z
    .strictObject({
      action: actionName,
      ...subjectFields,
      scope: grantScope.optional(),
      expires_in_minutes: z.int().min(1).max(525_600).optional().describe("Like `scope.expires_at`, counted from now by the server's clock."),
    })
    .refine(({ scope, expires_in_minutes }) => scope?.expires_at === undefined || expires_in_minutes === undefined, {
      error: 'set either `expires_in_minutes` or `scope.expires_at`, not both',
      path: ['expires_in_minutes'],
    }),
  output: grantView,
});

export const revokeCapability = contract({
  name: 'capabilities.revoke',
  toolset: 'admin',
  title: 'Revoke a capability',
  description: 'Revoke all grants of an action to a subject, or one grant by its id, with immediate effect.',
  input: z.strictObject({ action: actionName.optional(), ...subjectFields, grant_id: id.optional() }),
  output: z.strictObject({ revoked: z.array(z.string()) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const listCapabilities = contract({
  ...OPERATOR_READ,
  name: 'capabilities.list',
  title: 'List grants',
  description: 'List the grants of the workspace with their status, newest first, in pages.',
  input: z.strictObject({
    ...subjectFields,
    text: z.string().trim().min(1).max(200).optional().describe('Only actions whose name contains this.'),
    status: z.enum(GRANT_STATUSES).optional(),
    grant_id: id.optional().describe('Only this grant: its id, or the end of it.'),
    limit: z.int().min(1).max(1_000).default(500),
    before: id.optional().describe('Only grants older than this id.'),
  }),
  output: z.strictObject({ items: z.array(grantView), more: z.boolean() }),
});

/** `open`: the call needs no grant. `asks`: a person must approve each call. `limited`: the grant allows only certain arguments. */
const ANSWERS = ['open', 'yes', 'asks', 'limited', 'no'] as const;
const answer = z.enum(ANSWERS);
const TOOL_STATES = ['up', 'starting', 'down', 'withheld'] as const;

const caller = z.strictObject({
  subject: z.string(),
  name: z.string().describe('For example `codex@mira`.'),
  label: z.string().describe('Label of the token; may be empty.'),
});

export const explainCapability = contract({
  ...MEMBER_READ,
  name: 'capabilities.explain',
  title: 'Explain access to a tool',
  description:
    'Explain whether a subject can call a tool, and which grant allows it or what is missing. Covers each token of a developer. Counts no use. Developers see their own access, the operator anyone’s.',
  input: z.strictObject({ ...subjectFields, name: z.string().trim().min(1).max(200).describe('Tool name.') }),
  output: z.strictObject({
    capability: z.string(),
    tool: z
      .strictObject({ server: z.string(), state: z.enum(TOOL_STATES) })
      .nullable()
      .describe('Null: no tool has this name.'),
    answers: z.array(
      z.strictObject({
        ...caller.shape,
        answer,
        message: z.string().nullable().describe('The refusal that the caller would get; null if the call passes.'),
        grant: grantView.nullable().describe('The deciding grant.'),
      }),
    ),
    more: z.int().describe('Number of further tokens left out.'),
  }),
});

export const capabilityMatrix = contract({
  ...MEMBER_READ,
  name: 'capabilities.matrix',
  title: 'Access matrix',
  description: 'Show for tools and tokens, in pages, whether a call would pass now. Developers see their own tokens, the operator all.',
  input: z.strictObject({
    text: z.string().trim().min(1).max(200).optional().describe('Only tools whose name contains this.'),
    server: z.string().min(1).max(100).optional().describe('Only tools of this server.'),
    limit: z.int().min(1).max(100).default(50),
    offset: z.int().min(0).default(0),
    callers_limit: z.int().min(1).max(20).default(6),
    callers_offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({
    callers: z.array(caller),
    total_callers: z.int(),
    items: z.array(
      z.strictObject({ name: z.string(), server: z.string(), state: z.enum(TOOL_STATES), answers: z.array(answer).describe('One for each caller.') }),
    ),
    total: z.int(),
  }),
});
