import { createLeases, type LeasedStep, STEP_OVER } from '../../../kernel/step.ts';
import { holders } from '../../../machine/process/holder.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { changeInstance, findInstance } from './store.ts';

export type LeasedInstance = LeasedStep<InstanceRow>;

export const { lease, leave, isOverdue, stillMine, goOn, takeOver, finishOverdue } = createLeases<InstanceRow>({
  holders,
  stepMs: 180_000,
  find: (tx, { id }) => findInstance(tx.db, tx.workspace, id),
  change: (tx, row, values) => changeInstance(tx.db, row, values),
});
export const LEASE_OVER = { ...STEP_OVER, step_by: null, step_data: null } as const;

/** Thrown if another server has taken over the step. This server must then stop working on it. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver';
}

/** Throws if the write returned no row, because another server now holds the step. */
export function requireStillHeld<T>(row: T | undefined): T {
  if (row === undefined) throw new TakenOver('another server has taken over');
  return row;
}
