import type { Principal } from '../../../kernel/call.ts';
import { workspaceFlag } from '../../../kernel/ids.ts';
import { type Refused, refused } from '../../../kernel/reply.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';

/** Refusals for a call that waited for approval and is not made. */

const inQuotes = (reason: string | null): string => (reason === null ? '' : `: ${JSON.stringify(reason)}`);

export const refusedByPerson = (row: ApprovalRow): Refused =>
  refused(
    'error',
    'APPROVAL_REFUSED',
    `A person refused this call of ${row.name}${inQuotes(row.reason)}.`,
    'Do not repeat this call. Use another approach, or ask your user.',
    { approval_id: row.id, ...(row.reason === null ? {} : { reason: row.reason }) },
  );

export const approvalTimedOut = (row: ApprovalRow): Refused =>
  refused(
    'blocked',
    'APPROVAL_TIMEOUT',
    `Nobody approved this call of ${row.name} in time.`,
    'Repeat the call with the same arguments. Ask your user to approve it on the dashboard, or with `covenant approvals list` and `covenant approvals approve ID`.',
    { approval_id: row.id },
  );

export const approvalUnknown = (): Refused =>
  refused(
    'error',
    'APPROVAL_UNKNOWN',
    'This `requestState` does not belong to an open approval of this call: the call or caller differs, or it was already used.',
    'Repeat the call from the start, without `requestState`.',
  );

export const argumentsUnreadable = (): Refused =>
  refused(
    'error',
    'INVALID_INPUT',
    '`arguments` cannot be shown exactly as JSON, so nobody can approve them.',
    'Repeat the call with `arguments` in plain JSON, without broken Unicode or very deep nesting.',
    {
      field: 'arguments',
    },
  );

export const tokenRevoked = ({ kind, agentType, developerName, workspace }: Principal): Refused =>
  refused(
    'error',
    'TOKEN_REVOKED',
    'The token of this call was revoked or expired while the call waited.',
    kind === 'instance'
      ? 'Stop: the token of an instance ends with the instance. Ask your user to start another one: `covenant instances start`.'
      : `Ask the operator for a new token: \`covenant tokens create --developer ${developerName === null ? 'NAME' : shellQuoted(developerName)}${agentType === null ? '' : ` --agent ${agentType}`}${workspaceFlag(workspace)}\`.`,
  );

export const tooManyApprovals = (most: number): Refused =>
  refused(
    'error',
    'TOO_MANY_APPROVALS',
    `${most} calls of this token already wait for approval.`,
    'Wait until a person has decided on one of them (`covenant approvals list`), then repeat the call.',
  );
