import { z } from 'zod';
import { contract, READ } from '../../kernel/contract.ts';
import { actionName, GRANT_STATUSES, grantScope } from './grant.ts';

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
  granted_at: z.int(),
  revision: z.int(),
});

export const grantCapability = contract({
  name: 'capabilities.grant',
  toolset: 'admin',
  title: 'Grant a capability',
  description:
    'Gives a subject the right to call a tool or a toolset, optionally bounded by uses, rate, time or arguments, or by a person who approves each call.',
  input: z.strictObject({ action: actionName, ...subjectFields, scope: grantScope.optional() }),
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
  name: 'capabilities.list',
  toolset: 'admin',
  title: 'List grants',
  description: 'Every grant of the workspace with its status: live, exhausted, expired or revoked.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(grantView) }),
  annotations: READ,
});
