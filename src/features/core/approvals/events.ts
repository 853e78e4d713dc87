import type { NewEvent } from '../../../storage/journal.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';

/** Never the arguments, and nobody's words. */
export function approvalEvent(what: 'requested' | 'approved' | 'refused' | 'lapsed' | 'used', row: ApprovalRow, actor: string): NewEvent {
  return {
    category: 'audit',
    kind: `approval.${what}`,
    actor,
    subject: row.id,
    payload: {
      approval_id: row.id,
      arguments_sha256: row.arguments_sha256,
      grant_id: row.grant_id,
      name: row.name,
      noun: row.noun,
      server: row.server,
      through: row.decided_through,
      token_id: row.token_id,
    },
  };
}
