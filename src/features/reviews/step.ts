import { type Held, isHeldAs, STEP_OVER } from '../../kernel/step.ts';
import { hasEnded, THIS_PROCESS } from '../../machine/holder.ts';
import type { Tx } from '../../storage/write.ts';
import { changeFeedback, findFeedback } from './store.ts';
import type { ReviewFeedbackRow } from './tables.ts';

export type Leased = Held<ReviewFeedbackRow>;

/** Longer than any one step on the machine may take. */
const STEP_MS = 180_000;

export const lease = (step: Leased['step'], now: number) => ({ step, step_until: now + STEP_MS, step_by: THIS_PROCESS });
export const LEASE_OVER = { ...STEP_OVER, step_by: null } as const;

/** Nobody carries it out any more: its time is up, or whoever did has ended. */
export const isOverdue = (row: Pick<ReviewFeedbackRow, 'step_until' | 'step_by'>, now: number): boolean =>
  (row.step_until ?? 0) <= now || hasEnded(row.step_by);

/** As it stands now, if it is still in the same hands. */
export async function stillMine(tx: Tx, leased: Leased): Promise<ReviewFeedbackRow | undefined> {
  const row = await findFeedback(tx.db, tx.workspace, leased.id);
  return row && isHeldAs(row, leased) ? row : undefined;
}

/** On to the next step, or the same one for another while. Undefined where another has taken over. */
export async function goOn(tx: Tx, leased: Leased, step: Leased['step'], values: Partial<ReviewFeedbackRow> = {}): Promise<Leased | undefined> {
  const row = await stillMine(tx, leased);
  return row && (await prolong(tx, row, step, values));
}

/** Takes over what is overdue. Of several that try, one gets it. */
export async function takeOver(tx: Tx, seen: ReviewFeedbackRow): Promise<Leased | undefined> {
  const row = await findFeedback(tx.db, tx.workspace, seen.id);
  return row?.step != null && isHeldAs(row, seen) && isOverdue(row, tx.now) ? await prolong(tx, row, row.step) : undefined;
}

async function prolong(tx: Tx, row: ReviewFeedbackRow, step: Leased['step'], values: Partial<ReviewFeedbackRow> = {}): Promise<Leased> {
  const next = { ...values, ...lease(step, tx.now) };
  await changeFeedback(tx.db, row, next);
  return { ...row, ...next };
}
