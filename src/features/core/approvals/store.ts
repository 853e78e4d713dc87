import type { Db } from '../../../storage/engine.ts';
import { findRow, findRows, matching } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import type { ApprovalStatus } from './contract.ts';

export const findApproval = (db: Db, workspace: string, id: string) => findRow(db, 'approvals', { workspace_id: workspace, id });

/** The columns that identify a call, so that a caller that stopped waiting and repeats the call gets the same approval. */
export type SameCall = Pick<ApprovalRow, 'token_id' | 'noun' | 'name' | 'arguments_sha256' | 'grant_id'>;

/** Finds an approval of this call that is waiting, or approved and not used yet. Approved ones come first, so that nobody is asked again. */
export const openApprovalOf = (db: Db, workspace: string, call: SameCall, now: number) =>
  findRow(db, 'approvals', { workspace_id: workspace, ...call, status: ['approved', 'waiting'], deadline_at: { '>': now } }, { status: 'asc', id: 'asc' });

/** Returns the waiting approvals that can still be decided, oldest first, or the approvals with another status, newest first. */
export async function approvalRowsBy(db: Db, workspace: string, status: ApprovalStatus, now: number, limit: number): Promise<ApprovalRow[]> {
  const waits = status === 'waiting';
  const match = { workspace_id: workspace, status, deadline_at: waits ? { '>': now } : undefined };
  return await findRows(db, 'approvals', match, { order: { id: waits ? 'asc' : 'desc' }, limit });
}

/** Changes the approval if it still has the status `from`, and returns the changed row. Otherwise returns undefined. */
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

/** Returns the approvals of all workspaces whose deadline has passed, and that still wait for a decision or for their call. */
export async function overdueApprovals(db: Db, now: number, limit: number): Promise<Pick<ApprovalRow, 'workspace_id' | 'id'>[]> {
  return await matching(db, 'approvals', { status: ['waiting', 'approved'], deadline_at: { '<=': now } })
    .select(['workspace_id', 'id'])
    .limit(limit)
    .execute();
}
