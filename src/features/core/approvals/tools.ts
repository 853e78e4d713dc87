import type { z } from 'zod';
import { agentTypeOf, ownerOf } from '../../../kernel/actor.ts';
import type { Principal, WriteContext } from '../../../kernel/call.ts';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { matching, view } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { viewerOf } from '../identity/index.ts';
import { type ApprovalStatus, approvalView, approveCall, listApprovals, refuseCall } from './contract.ts';
import { readKept } from './kept-arguments.ts';
import { decide } from './lifecycle.ts';
import { approvalRowsBy } from './store.ts';

const MAX_ITEMS = 200;

/** These actions are only for people, because they need operator rights and no agent token has them. */
export function approvalTools(deadlineMs: number): Implementation[] {
  const settle = async (tx: Tx, tail: string, ctx: WriteContext, approve: boolean, reason: string | null = null) => {
    const row = await findBySuffix(matching(tx.db, 'approvals', { workspace_id: tx.workspace }).selectAll(), tail, 'approval');
    const viewer = await approvalViewer(tx.db, ctx.principal);
    const decided = await decide(tx, row, { approve, by: ctx.principal.actor, through: ctx.surface, reason }, deadlineMs);
    if (!decided) throw alreadySettled(row, viewer);
    return ok(viewer.view(decided), approve ? 'Approved.' : 'Refused.');
  };
  return [
    implement(listApprovals, {
      read: async ({ status }, { reader, principal, clock }) => {
        const items = await readApprovals(reader, principal, status, clock.now(), MAX_ITEMS + 1);
        return ok({ items: items.slice(0, MAX_ITEMS), cut: items.length > MAX_ITEMS });
      },
    }),
    implement(approveCall, { write: (tx, { approval_id }, ctx) => settle(tx, approval_id, ctx, true) }),
    implement(refuseCall, { write: (tx, { approval_id, reason }, ctx) => settle(tx, approval_id, ctx, false, reason) }),
  ];
}

/** Lists waiting approvals oldest first, and approvals with another status newest first. */
export async function readApprovals(db: Db, viewer: Principal, status: ApprovalStatus, now: number, limit: number): Promise<ApprovalView[]> {
  const rows = await approvalRowsBy(db, viewer.workspace, status, now, limit);
  return rows.map((await approvalViewer(db, viewer)).view);
}

/** Refuses a second decision. The person sees who made the first decision, which counts. */
function alreadySettled(row: ApprovalRow, { decider }: ApprovalViewer): Refusal {
  const by = decider(row);
  const how = row.decided_through === 'elicitation' ? "the caller's own client" : row.decided_through;
  const word = row.status === 'refused' ? 'refused' : 'approved';
  const what = by === null ? 'was not decided in time' : `was ${word} by ${by} through ${how}${row.status === 'used' ? ', and the call was made' : ''}`;
  return new Refusal('APPROVAL_CLOSED', `Approval ${row.id} ${what}.`, 'Run `covenant approvals list` for the calls that still wait.', {
    field: 'approval_id',
    approval_id: row.id,
    decided_by: by,
    decision: by === null ? null : word,
  });
}

type ApprovalView = z.input<typeof approvalView>;

interface ApprovalViewer {
  view(row: ApprovalRow): ApprovalView;
  /** The name of the person who decided. */
  decider(row: ApprovalRow): string | null;
}

/**
 * Shows the names of the caller and of the person who decided, if `viewer` may see them. For a private developer the agent type
 * is hidden, too, because it could identify the developer.
 */
async function approvalViewer(db: Db, principal: Principal): Promise<ApprovalViewer> {
  const viewer = await viewerOf(db, principal);
  const decider = ({ decided_by }: ApprovalRow): string | null => {
    if (decided_by === null) return null;
    const developer = ownerOf(decided_by);
    return developer === null ? decided_by : viewer.name(developer);
  };
  return {
    decider,
    view: (row) => {
      const kept = row.arguments === null ? undefined : readKept(row.arguments);
      return view(approvalView, row, {
        approval_id: row.id,
        noun: row.noun as ApprovalView['noun'],
        developer: viewer.name(row.developer_id),
        agent: viewer.sees(row.developer_id) ? agentTypeOf(row.actor) : null,
        arguments: kept?.text ?? null,
        arguments_bytes: kept?.bytes ?? null,
        arguments_cut: kept?.cut ?? false,
        requested_at: row.created_at,
        decided_by: decider(row),
      });
    },
  };
}
