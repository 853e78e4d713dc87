import { isHeldAs, isLeft, type LeasedStep } from '../../../kernel/step.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { changeWorktree, findWorktree } from './store.ts';

/** A machine without the repository handles an overdue step only after this time, so that another machine can finish it first. */
export const ELSEWHERE_MS = 10 * 60_000;

/**
 * How long a lease lasts. This is longer than a checkout may take, so that no git process of the previous holder still runs when another process takes
 * the step over.
 */
const STEP_MS = 120_000;

export type LeasedWorktree = LeasedStep<WorktreeRow>;

export const lease = (step: NonNullable<WorktreeRow['step']>, now: number) => ({ step, step_until: now + STEP_MS });

export async function takeOver(tx: Tx, seen: WorktreeRow): Promise<LeasedWorktree | undefined> {
  const row = await findWorktree(tx.db, tx.workspace, seen.id);
  return row?.step != null && isLeft(row, seen, tx.now) ? await prolong(tx, row, row.step) : undefined;
}

/** Extends the lease. Call this before work that takes long. */
export async function renew(tx: Tx, leased: LeasedWorktree): Promise<LeasedWorktree | undefined> {
  const row = await stillMine(tx, leased);
  return row && (await prolong(tx, row, leased.step));
}

async function prolong(tx: Tx, row: WorktreeRow, step: LeasedWorktree['step']): Promise<LeasedWorktree> {
  const values = lease(step, tx.now);
  await changeWorktree(tx.db, row, values);
  return { ...row, ...values };
}

/** Returns the stored row if this process still holds the step, and undefined otherwise. */
export async function stillMine(tx: Tx, leased: LeasedWorktree): Promise<WorktreeRow | undefined> {
  const row = await findWorktree(tx.db, tx.workspace, leased.id);
  return row && isHeldAs(row, leased) ? row : undefined;
}
