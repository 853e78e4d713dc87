import type { Services } from '../../../kernel/call.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import type { NewEvent } from '../../../storage/journal.ts';
import { deleteEverywhere } from '../../../storage/rows.ts';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { changeApproval, findApproval, overdueApprovals } from './store.ts';

/** The journal's actor for changes that no caller made. */
const SERVER = 'server';

interface Decision {
  readonly approve: boolean;
  /** The actor as recorded in the journal. */
  readonly by: string;
  readonly through: string;
  readonly reason: string | null;
}

const isOpen = ({ status, deadline_at }: ApprovalRow, now: number): boolean => status === 'waiting' && now < deadline_at;

/**
 * Applies a decision if it is the first one and in time. Otherwise returns undefined. After an approval, the caller has
 * `deadlineMs` to make the call.
 */
export async function decide(tx: Tx, row: ApprovalRow, { approve, by, through, reason }: Decision, deadlineMs: number): Promise<ApprovalRow | undefined> {
  if (!isOpen(row, tx.now)) return undefined;
  const decided = await changeApproval(tx.db, tx.workspace, row.id, 'waiting', {
    status: approve ? 'approved' : 'refused',
    arguments: null,
    decided_at: tx.now,
    decided_by: by,
    decided_through: through,
    reason,
    ...(approve ? { deadline_at: tx.now + deadlineMs } : {}),
  });
  if (decided) tx.append(approvalEvent(approve ? 'approved' : 'refused', decided, by));
  return decided;
}

/** If several callers use one approval, exactly one of them succeeds. */
export async function spendApproval(tx: Tx, id: string, actor: string): Promise<boolean> {
  const row = await findApproval(tx.db, tx.workspace, id);
  if (row?.status !== 'approved' || tx.now >= row.deadline_at) return false;
  const used = await changeApproval(tx.db, tx.workspace, id, 'approved', { status: 'used', used_at: tx.now });
  if (used) tx.append(approvalEvent('used', used, actor));
  return used !== undefined;
}

/**
 * Marks the approval as lapsed if it is still overdue, because another process or a person may have changed it in the meantime.
 * Returns the current row.
 */
export async function lapseIfOverdue(tx: Tx, id: string): Promise<ApprovalRow | undefined> {
  const row = await findApproval(tx.db, tx.workspace, id);
  if (!row || (row.status !== 'waiting' && row.status !== 'approved') || tx.now < row.deadline_at) return row;
  const lapsed = await changeApproval(tx.db, tx.workspace, id, row.status, { status: 'lapsed', arguments: null });
  if (lapsed) tx.append(approvalEvent('lapsed', lapsed, SERVER));
  return lapsed;
}

/** Returns the event for a change of an approval. It never contains arguments or free text. */
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

/** In all workspaces: marks overdue approvals as lapsed and deletes expired rounds. */
export function approvalSweep(services: Pick<Services, 'store' | 'clock' | 'log'>): Sweep {
  const { store, clock } = services;
  const due = dueSweep(services, { name: 'approvals', everyMs: 5_000, atOnce: 100, find: overdueApprovals, settle: (tx, { id }) => lapseIfOverdue(tx, id) });
  return {
    ...due,
    async run() {
      await due.run();
      await deleteEverywhere(store, 'call_rounds', { expires_at: { '<=': clock.now() } });
    },
  };
}
