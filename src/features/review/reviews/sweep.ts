import type { Services } from '../../../kernel/context.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import { findInstance, type InstanceOutside, type InstancePorts, isStuck, reviewedBy, reviewOver } from '../instances/index.ts';
import { deliver } from './deliver.ts';
import { finishOverdue } from './step.ts';
import { feedbackBy, feedbackUnderWay, type OpenReview, openReviews } from './store.ts';

const STEPS_MS = 5_000;
const TIMEOUTS_MS = 30_000;

/** Delivers feedback that a process began to deliver and did not live to. */
export function feedbackSweep(services: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  const { reader } = services.store;
  return {
    name: 'review feedback',
    everyMs: STEPS_MS,
    async run() {
      await finishOverdue(services, await feedbackUnderWay(reader, outside.machine), (hand, row) => deliver(outside, ports, hand, reader, row));
    },
  };
}

/** Ends reviews that take too long. */
export function timeoutSweep({ store, clock }: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  return {
    name: 'stuck reviews',
    everyMs: TIMEOUTS_MS,
    async run() {
      for (const seen of await openReviews(store.reader, outside.machine)) {
        const limits = await reviewLimits(store.reader, seen.workspace_id);
        if (isStuck(seen.created_at, clock.now(), limits)) await store.write(seen.workspace_id, (tx) => timeOut(tx, ports, seen));
      }
    },
  };
}

async function timeOut(tx: Tx, ports: InstancePorts, { child_instance }: OpenReview): Promise<void> {
  const review = await findInstance(tx.db, tx.workspace, child_instance);
  const relationship = await reviewedBy(tx.db, tx.workspace, child_instance);
  const limits = await reviewLimits(tx.db, tx.workspace);
  const parent = relationship && (await findInstance(tx.db, tx.workspace, relationship.parent_instance));
  // Meanwhile it may have ended, said its word, been given more time, or be about to approve.
  if (!review || review.step !== null || !relationship || relationship.ended_at !== null || parent?.step === 'pull') return;
  if (!isStuck(relationship.created_at, tx.now, limits) || (await feedbackBy(tx.db, tx.workspace, review.id))) return;
  const reason = `it took longer than ${limits.timeoutHours} h`;
  const told = { subject: 'Your review timed out', body: `${review.id} was ended without feedback: ${reason}. Call request_review again.` };
  await reviewOver(tx, ports, review, { actor: 'server', outcome: 'timeout', reason, told, graceMs: 0 });
}
