import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { idOf, neverBrought, oneOf, type RowRules, rowRule, sha256 } from '../../../storage/transfer/row-rules.ts';
import { APPROVAL_STATUSES } from './contract.ts';

/** Decided approvals are imported as history. Open approvals are left out, because they could let calls through on this server. */
export const approvalRows = {
  approvals: rowRule<ApprovalRow>({ id: idOf('apr'), arguments_sha256: sha256, status: oneOf(...APPROVAL_STATUSES) }, (row) =>
    row.status === 'waiting' || row.status === 'approved' ? { row: null, leftOut: 'pending_approvals' } : { row },
  ),
  call_rounds: neverBrought('pending_calls'),
} satisfies Partial<RowRules>;
