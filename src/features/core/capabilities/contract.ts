import { z } from 'zod';
import { contract, MEMBER_READ, OPERATOR_READ } from '../../../kernel/contract.ts';
import { capabilityFor } from '../../../kernel/registry.ts';

export const grantScope = z.strictObject({
  max_uses: z.int().min(1).max(1_000_000_000).optional().describe('How many calls the grant allows in all.'),
  max_per_minute: z.int().min(1).max(600).optional().describe('How many calls the grant allows in any 60 seconds.'),
  expires_at: z.int().min(0).optional().describe('Epoch milliseconds; the grant still holds in that millisecond.'),
  arguments: z
    .strictObject({ allow: z.array(z.record(z.string(), z.unknown())).min(1).max(100) })
    .optional()
    .describe('The whole argument object must equal one entry.'),
  approve: z
    .union([z.boolean(), z.literal('client')], { error: 'expected true, false or "client"' })
    .optional()
    .describe(
      'true: each call waits until a person has approved it, on the dashboard or at the command line. "client": the caller’s own client may approve it too.',
    ),
});
export type GrantScope = z.output<typeof grantScope>;

/** In rising precedence: where several apply, the later is shown. */
export const GRANT_STATUSES = ['live', 'exhausted', 'expired', 'revoked'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

/** `tool.call.<name>` and its like, or a toolset of native coordination tools. Compared exactly: there are no wildcards. */
export const actionName = z
  .string()
  .max(200)
  .regex(/^((tool\.call|resource\.read|prompt\.get)\.[A-Za-z0-9_.-]{1,128}|toolset\.(team|review|workflow|cycle))$/, {
    error: 'expected tool.call.<tool>, resource.read.<server>, prompt.get.<prompt>, or toolset.team, toolset.review, toolset.workflow or toolset.cycle',
  })
  .overwrite((action) => (action.startsWith('tool.call.') ? capabilityFor('tool', action.slice('tool.call.'.length)) : action));

const id = z.string().min(1).max(64);

/** At most one of them; without any, the operator. */
const subjectFields = {
  developer: z.string().min(1).max(100).optional().describe("A developer's name: the grant serves all of their tokens."),
  token: id.optional().describe('A token id, or an unambiguous tail of it.'),
  instance: id.optional().describe('An instance id.'),
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
  description:
    'Gives a subject the right to call a tool or a toolset, optionally bounded by uses, rate, time or arguments, or by a person who approves each call.',
  input: z
    .strictObject({
      action: actionName,
      ...subjectFields,
      scope: grantScope.optional(),
      expires_in_minutes: z.int().min(1).max(525_600).optional().describe('The same as scope.expires_at, counted from now by the clock of the server.'),
    })
    .refine(({ scope, expires_in_minutes }) => scope?.expires_at === undefined || expires_in_minutes === undefined, {
      error: 'say when it ends once: here or by scope.expires_at',
      path: ['expires_in_minutes'],
    }),
  output: grantView,
});

export const revokeCapability = contract({
  name: 'capabilities.revoke',
  toolset: 'admin',
  title: 'Revoke a capability',
  description: 'Takes back every grant of an action from a subject, or one grant by its id, from the next call on.',
  input: z.strictObject({ action: actionName.optional(), ...subjectFields, grant_id: id.optional() }),
  output: z.strictObject({ revoked: z.array(z.string()) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

export const listCapabilities = contract({
  ...OPERATOR_READ,
  name: 'capabilities.list',
  title: 'List grants',
  description: 'The grants of the workspace with their status: live, exhausted, expired or revoked. The newest first, a page at a time.',
  input: z.strictObject({
    ...subjectFields,
    text: z.string().trim().min(1).max(200).optional().describe('Only actions with this in their name.'),
    status: z.enum(GRANT_STATUSES).optional(),
    grant_id: id.optional().describe('This one alone, or the one whose id ends so.'),
    limit: z.int().min(1).max(1_000).default(500),
    before: id.optional().describe('Those that are older than the grant with this id.'),
  }),
  output: z.strictObject({ items: z.array(grantView), more: z.boolean() }),
});

/** open: needs no grant. asks: a person approves each call. limited: with certain arguments only. */
const ANSWERS = ['open', 'yes', 'asks', 'limited', 'no'] as const;
const answer = z.enum(ANSWERS);
const TOOL_STATES = ['up', 'starting', 'down', 'withheld'] as const;

const caller = z.strictObject({
  subject: z.string(),
  name: z.string().describe('As `codex@mira`.'),
  label: z.string().describe('Of the token; empty where it is none.'),
});

export const explainCapability = contract({
  ...MEMBER_READ,
  name: 'capabilities.explain',
  title: 'Can they call it?',
  description:
    'What the gate would say to a call of a tool: by which grant it passes, or what is missing. For a developer, of each of their tokens. Nothing is called or counted. Developers ask for themselves, the operator for anybody.',
  input: z.strictObject({ ...subjectFields, name: z.string().trim().min(1).max(200).describe('The tool.') }),
  output: z.strictObject({
    capability: z.string(),
    tool: z
      .strictObject({ server: z.string(), state: z.enum(TOOL_STATES) })
      .nullable()
      .describe('Null: there is no tool of this name.'),
    answers: z.array(
      z.strictObject({
        ...caller.shape,
        answer,
        message: z.string().nullable().describe('What the caller would be told; null where the call passes.'),
        grant: grantView.nullable().describe('The one that decides.'),
      }),
    ),
    more: z.int().describe('How many more tokens there are than are answered for.'),
  }),
});

export const capabilityMatrix = contract({
  ...MEMBER_READ,
  name: 'capabilities.matrix',
  title: 'Who may call what',
  description: "Tools against tokens, a page of each: what the gate would say now. A developer's own tokens, or all to the operator.",
  input: z.strictObject({
    text: z.string().trim().min(1).max(200).optional().describe('Only tools with this in their name.'),
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
