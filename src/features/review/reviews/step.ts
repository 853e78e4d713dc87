import { createLeases, type LeasedStep, STEP_OVER } from '../../../kernel/step.ts';
import { holders } from '../../../machine/process/holder.ts';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';
import { changeFeedback, findFeedback } from './store.ts';

export type LeasedFeedback = LeasedStep<ReviewFeedbackRow>;

export const { lease, isOverdue, stillMine, goOn, takeOver, finishOverdue } = createLeases<ReviewFeedbackRow>({
  holders,
  stepMs: 180_000,
  find: (tx, { id }) => findFeedback(tx.db, tx.workspace, id),
  change: (tx, row, values) => changeFeedback(tx.db, row, values),
});
export const LEASE_OVER = { ...STEP_OVER, step_by: null } as const;
