import type { Services } from '../../../kernel/call.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import { concludeReview, findInstance, type InstanceOutside, type InstancePorts, isStuck, reviewedBy } from '../instances/index.ts';
import { feedbackBy, type OpenReview, openReviews } from './store.ts';

const TIMEOUTS_MS = 30_000;

/** Stops reviews that take too long. */
export function timeoutSweep({ store, clock, log }: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  return {
    name: 'stuck reviews',
    everyMs: TIMEOUTS_MS,
    async run() {
      for (const seen of await openReviews(store.reader, outside.machine)) {
        const limits = await reviewLimits(store.reader, seen.workspace_id);
        if (!isStuck(seen.created_at, clock.now(), limits)) continue;
        // If one review cannot be stopped, the others must be stopped anyway.
        const ended = store.write(seen.workspace_id, (tx) => timeOut(tx, ports, seen));
        await ended.catch((error: unknown) => log.error('stuck review not ended', { review: seen.child_instance, error }));
      }
    },
  };
}

async function timeOut(tx: Tx, ports: InstancePorts, { child_instance }: OpenReview): Promise<void> {
  const review = await findInstance(tx.db, tx.workspace, child_instance);
  const relationship = await reviewedBy(tx.db, tx.workspace, child_instance);
  const limits = await reviewLimits(tx.db, tx.workspace);
  const parent = relationship && (await findInstance(tx.db, tx.workspace, relationship.parent_instance));
  // In the meantime, the review may have ended, sent its feedback or got more time, or it may be creating the pull request.
  if (!review || review.step !== null || !relationship || relationship.ended_at !== null || parent?.step === 'pull') return;
  if (!isStuck(relationship.created_at, tx.now, limits) || (await feedbackBy(tx.db, tx.workspace, review.id))) return;
  const reason = `it took longer than ${limits.timeoutHours} h`;
  const message = { subject: 'Your review timed out', body: `${review.id} was stopped without feedback: ${reason}. Call request_review again.` };
  await concludeReview(tx, ports, review, { actor: 'server', outcome: 'timeout', reason, message, graceMs: 0 });
}
