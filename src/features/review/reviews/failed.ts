import type { Tx } from '../../../storage/write.ts';
import type { Limits } from '../../core/settings/index.ts';
import { beginEnding, changeInstance, type InstanceRow, isGivenUp } from '../instances/index.ts';

export interface Counted {
  readonly failed: number;
  readonly abandoned: boolean;
}

/** One more failed review. At the threshold the instance is abandoned in the same breath; the sweep takes it from the machine after `graceMs`. */
export async function countFailed(tx: Tx, actor: string, row: InstanceRow, limits: Limits, graceMs: number): Promise<Counted> {
  const failed = row.failed_reviews + 1;
  if (!isGivenUp(failed, limits)) {
    await changeInstance(tx.db, row, { failed_reviews: failed, updated_at: tx.now });
    return { failed, abandoned: false };
  }
  const status_reason = `${failed} failed reviews, of at most ${limits.autoAbandonAfter}`;
  await beginEnding(tx, row, { failed_reviews: failed, status: 'abandoned', status_reason, news: null }, { force: false }, graceMs);
  tx.append({ category: 'work', kind: 'instance.abandoned', actor, subject: row.id, payload: { automatic: true, failed_reviews: failed } });
  return { failed, abandoned: true };
}
