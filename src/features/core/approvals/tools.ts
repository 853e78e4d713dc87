import type { WriteContext } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { ok } from '../../../kernel/reply.ts';
import { onlyMatch } from '../../../kernel/tail.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { approveCall, listApprovals, refuseCall } from './contract.ts';
import { decide } from './decide.ts';
import { approvalsByTail, listApprovals as readApprovals } from './store.ts';
import { type ApprovalViewer, approvalViewer } from './views.ts';

const MOST = 200;

/** For people alone: no agent's token has operator rights. */
export function approvalTools(deadlineMs: number): Implementation[] {
  const settle = async (tx: Tx, tail: string, ctx: WriteContext, approve: boolean, reason: string | null = null) => {
    const row = await approvalNamed(tx, tail);
    const viewer = await approvalViewer(tx.db, tx.workspace, ctx.principal);
    const decided = await decide(tx, row, { approve, by: ctx.principal.actor, through: ctx.surface, reason }, deadlineMs);
    if (!decided) throw alreadySettled(row, viewer);
    return ok(viewer.view(decided), approve ? 'Approved.' : 'Refused.');
  };
  return [
    implement(listApprovals, {
      read: async ({ status }, { reader, workspace, principal, clock }) => {
        const rows = await readApprovals(reader, workspace, status, clock.now(), MOST + 1);
        const { view } = await approvalViewer(reader, workspace, principal);
        return ok({ items: rows.slice(0, MOST).map(view), cut: rows.length > MOST });
      },
    }),
    implement(approveCall, { write: (tx, { approval_id }, ctx) => settle(tx, approval_id, ctx, true) }),
    implement(refuseCall, { write: (tx, { approval_id, reason }, ctx) => settle(tx, approval_id, ctx, false, reason) }),
  ];
}

async function approvalNamed(tx: Tx, tail: string): Promise<ApprovalRow> {
  const found = await approvalsByTail(tx.db, tx.workspace, tail);
  const id = onlyMatch(
    found.map((row) => row.id),
    tail,
    'approval',
  );
  return found.find((row) => row.id === id) as ApprovalRow;
}

/** The first decision counts; whoever comes second is told whose it was. */
function alreadySettled(row: ApprovalRow, { decider }: ApprovalViewer): Refusal {
  const by = decider(row);
  const how = row.decided_through === 'elicitation' ? "the caller's own client" : row.decided_through;
  const word = row.status === 'refused' ? 'refused' : 'approved';
  const what = by === null ? 'was decided by nobody in time' : `was ${word} by ${by} through ${how}${row.status === 'used' ? ', and the call was made' : ''}`;
  return new Refusal('APPROVAL_CLOSED', `Approval ${row.id} ${what}.`, 'covenant approvals list shows those that wait.', {
    field: 'approval_id',
    approval_id: row.id,
    decided_by: by,
    decision: by === null ? null : word,
  });
}
