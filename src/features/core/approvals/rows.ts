import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { idOf, neverBrought, oneOf, type RowRules, rowRule, sha256 } from '../../../storage/transfer/row-rules.ts';
import { APPROVAL_STATUSES } from './contract.ts';

/** Decisions are kept as history. An open approval would let a call through here, so it is left out. */
export const approvalRows = {
  approvals: rowRule<ApprovalRow>({ id: idOf('apr'), arguments_sha256: sha256, status: oneOf(...APPROVAL_STATUSES) }, (row) =>
    row.status === 'waiting' || row.status === 'approved' ? { row: null, leftOut: 'pending_approvals' } : { row },
  ),
  call_rounds: neverBrought('pending_calls'),
} satisfies Partial<RowRules>;
