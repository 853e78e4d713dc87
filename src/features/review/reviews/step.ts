import { createLeases, type LeasedStep, STEP_OVER } from '../../../kernel/step.ts';
import { holders } from '../../../machine/process/holder.ts';
import { changeRows, findRow } from '../../../storage/rows.ts';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';

export type LeasedFeedback = LeasedStep<ReviewFeedbackRow>;

export const { lease, isOverdue, stillMine, goOn, takeOver, finishOverdue } = createLeases<ReviewFeedbackRow>({
  holders,
  stepMs: 180_000,
  find: ({ db, workspace }, { id }) => findRow(db, 'review_feedback', { workspace_id: workspace, id }),
  change: ({ db }, { workspace_id, id }, values) => changeRows(db, 'review_feedback', { workspace_id, id }, values),
});
export const LEASE_OVER = { ...STEP_OVER, step_by: null } as const;
