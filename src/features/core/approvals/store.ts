import type { Db } from '../../../storage/engine.ts';
import { findRow, findRows, matching } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import type { ApprovalStatus } from './contract.ts';

export const findApproval = (db: Db, workspace: string, id: string) => findRow(db, 'approvals', { workspace_id: workspace, id });

/** Identifies a call: a caller that gave up and calls again finds the approval that it asked for before. */
export type SameCall = Pick<ApprovalRow, 'token_id' | 'noun' | 'name' | 'arguments_sha256' | 'grant_id'>;

/** One that waits, or was approved and not used. What was approved is used before anybody is asked again. */
export const openApprovalOf = (db: Db, workspace: string, call: SameCall, now: number) =>
  findRow(db, 'approvals', { workspace_id: workspace, ...call, status: ['approved', 'waiting'], deadline_at: { '>': now } }, { status: 'asc', id: 'asc' });

/** Waiting approvals: the oldest first, and only while there is time to decide. Others: the newest first. */
export async function approvalRowsBy(db: Db, workspace: string, status: ApprovalStatus, now: number, limit: number): Promise<ApprovalRow[]> {
  const waits = status === 'waiting';
  const match = { workspace_id: workspace, status, deadline_at: waits ? { '>': now } : undefined };
  return await findRows(db, 'approvals', match, { order: { id: waits ? 'asc' : 'desc' }, limit });
}

/** The row after the change, where it still had the status that the change is from. */
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

/** Of all workspaces: waiting, or approved and not used, past their deadline. */
export async function overdueApprovals(db: Db, now: number, limit: number): Promise<Pick<ApprovalRow, 'workspace_id' | 'id'>[]> {
  return await matching(db, 'approvals', { status: ['waiting', 'approved'], deadline_at: { '<=': now } })
    .select(['workspace_id', 'id'])
    .limit(limit)
    .execute();
}
