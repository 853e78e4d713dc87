import { type Refused, refused } from '../../../kernel/reply.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';

/** Replies to the caller of a held call that does not go through. */

const inQuotes = (reason: string | null): string => (reason === null ? '' : `: ${JSON.stringify(reason)}`);

export const refusedByPerson = (row: ApprovalRow): Refused =>
  refused(
    'error',
    'APPROVAL_REFUSED',
    `A person has refused this call of ${row.name}${inQuotes(row.reason)}.`,
    'Do not repeat it: go another way, or ask your user.',
    { approval_id: row.id, ...(row.reason === null ? {} : { reason: row.reason }) },
  );

export const approvalTimedOut = (row: ApprovalRow): Refused =>
  refused(
    'blocked',
    'APPROVAL_TIMEOUT',
    `Nobody has approved this call of ${row.name} in time.`,
    'Call again, and tell your user that the call waits for a decision on the dashboard or at the command line (`covenant approvals list`).',
    { approval_id: row.id },
  );

export const approvalUnknown = (): Refused =>
  refused(
    'error',
    'APPROVAL_UNKNOWN',
    'This requestState belongs to no approval of this call: it was another call or another caller, or it has been used.',
    'Call again from the start, without requestState.',
  );

export const argumentsUnreadable = (): Refused =>
  refused('error', 'INVALID_INPUT', 'arguments: cannot be written as JSON, so nobody could approve them.', 'Send arguments that are plain JSON.', {
    field: 'arguments',
  });

export const tokenRevoked = (): Refused =>
  refused('error', 'TOKEN_REVOKED', 'The token of this call was revoked or has expired while the call waited.', 'Ask the operator for a new token.');

export const tooManyApprovals = (most: number): Refused =>
  refused(
    'error',
    'TOO_MANY_APPROVALS',
    `${most} calls by this token wait for approval already.`,
    'Wait until a person has decided on them (`covenant approvals list`), then call again.',
  );
