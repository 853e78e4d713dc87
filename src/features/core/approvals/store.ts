import type { Db } from '../../../storage/engine.ts';
import type { ApprovalRow, CallRoundRow } from '../../../storage/schema-rows.ts';
import { idOf, neverBrought, oneOf, type RowRules, rowRule, sha256 } from '../../../storage/transfer/row-rules.ts';
import { APPROVAL_STATUSES, type ApprovalStatus } from './contract.ts';

export const approvalsIn = (db: Db, workspace: string) => db.selectFrom('approvals').selectAll().where('workspace_id', '=', workspace);

export async function findApproval(db: Db, workspace: string, id: string): Promise<ApprovalRow | undefined> {
  return await approvalsIn(db, workspace).where('id', '=', id).executeTakeFirst();
}

/** Which calls are the same: whoever gave up and calls again finds what was asked for before. */
export type SameCall = Pick<ApprovalRow, 'token_id' | 'noun' | 'name' | 'arguments_sha256' | 'grant_id'>;

/** One that waits, or was approved and not used. What was approved is used before anybody is asked again. */
export async function openApprovalOf(db: Db, workspace: string, call: SameCall, now: number): Promise<ApprovalRow | undefined> {
  return await approvalsIn(db, workspace)
    .where('token_id', '=', call.token_id)
    .where('arguments_sha256', '=', call.arguments_sha256)
    .where('status', 'in', ['approved', 'waiting'])
    .where('noun', '=', call.noun)
    .where('name', '=', call.name)
    .where('grant_id', '=', call.grant_id)
    .where('deadline_at', '>', now)
    .orderBy('status')
    .orderBy('id')
    .executeTakeFirst();
}

export async function waitingOf(db: Db, workspace: string, tokenId: string, now: number): Promise<number> {
  const { waiting } = await db
    .selectFrom('approvals')
    .select((eb) => eb.fn.countAll<number | string>().as('waiting'))
    .where('workspace_id', '=', workspace)
    .where('token_id', '=', tokenId)
    .where('status', '=', 'waiting')
    .where('deadline_at', '>', now)
    .executeTakeFirstOrThrow();
  return Number(waiting);
}

/** Those that wait: the oldest first, and only while there is time to decide. Of the others the newest first. */
export async function approvalRowsBy(db: Db, workspace: string, status: ApprovalStatus, now: number, limit: number): Promise<ApprovalRow[]> {
  const rows = approvalsIn(db, workspace).where('status', '=', status).limit(limit);
  return await (status === 'waiting' ? rows.where('deadline_at', '>', now).orderBy('id') : rows.orderBy('id', 'desc')).execute();
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
  return await db
    .selectFrom('approvals')
    .select(['workspace_id', 'id'])
    .where('status', 'in', ['waiting', 'approved'])
    .where('deadline_at', '<=', now)
    .limit(limit)
    .execute();
}

type RoundKey = Pick<CallRoundRow, 'token_sha256' | 'token_id' | 'noun' | 'name' | 'arguments_sha256'>;

/** The round, if it is of exactly this call and nobody has taken it. */
export async function takeRound(db: Db, workspace: string, key: RoundKey, now: number): Promise<CallRoundRow | undefined> {
  return await db
    .deleteFrom('call_rounds')
    .where('workspace_id', '=', workspace)
    .where('token_sha256', '=', key.token_sha256)
    .where('token_id', '=', key.token_id)
    .where('noun', '=', key.noun)
    .where('name', '=', key.name)
    .where('arguments_sha256', '=', key.arguments_sha256)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** The workspaces that have rounds nobody can take any more. */
export async function workspacesWithStaleRounds(db: Db, now: number): Promise<string[]> {
  const rows = await db.selectFrom('call_rounds').select('workspace_id').distinct().where('expires_at', '<=', now).execute();
  return rows.map((row) => row.workspace_id);
}

export async function deleteStaleRounds(db: Db, workspace: string, now: number): Promise<void> {
  await db.deleteFrom('call_rounds').where('workspace_id', '=', workspace).where('expires_at', '<=', now).execute();
}

/** A decision is kept as history. One that is still to be made or used would let a call through here. */
export const approvalRows = {
  approvals: rowRule<ApprovalRow>({ id: idOf('apr'), arguments_sha256: sha256, status: oneOf(...APPROVAL_STATUSES) }, (row) =>
    row.status === 'waiting' || row.status === 'approved' ? { row: null, leftOut: 'pending_approvals' } : { row },
  ),
  call_rounds: neverBrought('pending_calls'),
} satisfies Partial<RowRules>;

/** An approved call that was not made yet still may be. */
