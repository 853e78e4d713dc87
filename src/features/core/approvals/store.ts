import type { Db } from '../../../storage/engine.ts';
import { findRow, findRows, matching } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import type { ApprovalStatus } from './contract.ts';

export const findApproval = (db: Db, workspace: string, id: string) => findRow(db, 'approvals', { workspace_id: workspace, id });

/** Identifies a call: a caller that stopped waiting and repeats the call finds its earlier approval. */
export type SameCall = Pick<ApprovalRow, 'token_id' | 'noun' | 'name' | 'arguments_sha256' | 'grant_id'>;

/** A waiting approval, or an approved and unused one. Approved ones come first, so that nobody is asked again. */
export const openApprovalOf = (db: Db, workspace: string, call: SameCall, now: number) =>
  findRow(db, 'approvals', { workspace_id: workspace, ...call, status: ['approved', 'waiting'], deadline_at: { '>': now } }, { status: 'asc', id: 'asc' });

/** Waiting approvals that can still be decided, oldest first, or approvals with another status, newest first. */
export async function approvalRowsBy(db: Db, workspace: string, status: ApprovalStatus, now: number, limit: number): Promise<ApprovalRow[]> {
  const waits = status === 'waiting';
  const match = { workspace_id: workspace, status, deadline_at: waits ? { '>': now } : undefined };
  return await findRows(db, 'approvals', match, { order: { id: waits ? 'asc' : 'desc' }, limit });
}

/** The row after the change, if it still had the status `from`. */
export async function changeApproval(
  db: Db,
  workspace: string,
  id: string,
  from: ApprovalStatus,
  change: Partial<ApprovalRow>,
): Promise<ApprovalRow | undefined> {
  return await db
    .updateTable('approvals')
    .set(change)
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .where('status', '=', from)
    .returningAll()
    .executeTakeFirst();
}

/** Approvals of all workspaces that are past their deadline and still wait for a decision or for their call. */
export async function overdueApprovals(db: Db, now: number, limit: number): Promise<Pick<ApprovalRow, 'workspace_id' | 'id'>[]> {
  return await matching(db, 'approvals', { status: ['waiting', 'approved'], deadline_at: { '<=': now } })
    .select(['workspace_id', 'id'])
    .limit(limit)
    .execute();
}
