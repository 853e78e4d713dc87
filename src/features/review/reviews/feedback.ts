import type { CallContext, Services } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { invalidState, notFound, ok, Refusal, type Reply } from '../../../kernel/reply.ts';
import { stepRunner } from '../../../kernel/step.ts';
import type { Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import { insertRows, newId } from '../../../storage/rows.ts';
import type { ReviewFeedbackRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { allows, type InstanceOutside, type InstancePorts, type InstanceRow, requireInstance, reviewedBy } from '../instances/index.ts';
import { callingInstance, requireType } from './caller.ts';
import { sendFeedback } from './contract.ts';
import { deliver } from './deliver.ts';
import { finishOverdue, isOverdue, type LeasedFeedback, lease, takeOver } from './step.ts';
import { feedbackBy, feedbackUnderWay } from './store.ts';

type FeedbackInput = Input<typeof sendFeedback>;

/** Stores the feedback, then delivers it. A repeated call with the same arguments returns the same answer. */
export async function runFeedback(
  outside: InstanceOutside,
  ports: InstancePorts,
  input: FeedbackInput,
  ctx: CallContext,
): Promise<Reply<Output<typeof sendFeedback>>> {
  const caller = await callingInstance(ctx, outside.machine);
  requireType(caller, sendFeedback, 'review agents send feedback');
  const begun = await ctx.write((tx) => begin(tx, caller.id, input));
  if (begun.step !== 'merging') return ok(await answer(ctx.reader, begun));
  // The delivery is never interrupted, because an interrupted merge would have to wait for the sweep.
  const runner = stepRunner(ctx);
  const row = await deliver(outside, ports, runner, ctx.reader, begun as LeasedFeedback);
  if (!row) throw underWay();
  return ok(await answer(ctx.reader, row));
}

async function begin(tx: Tx, id: string, input: FeedbackInput): Promise<ReviewFeedbackRow> {
  const before = await feedbackBy(tx.db, tx.workspace, id);
  if (before) return await again(tx, before, input);
  const review = await requireInstance(tx.db, tx.workspace, id);
  const { parent, iteration } = await requireTarget(tx.db, review);
  const row: ReviewFeedbackRow = {
    workspace_id: tx.workspace,
    id: newId('fb', tx.now),
    review_instance: id,
    coding_instance: parent.id,
    review_iteration: iteration,
    ...wordsOf(input),
    git_commit_hash: null,
    delivered: null,
    reason: null,
    created_at: tx.now,
    ...lease('merging', tx.now),
  };
  await insertRows(tx.db, 'review_feedback', row);
  return row;
}

const wordsOf = ({ feedback, feedback_type, priority = 'normal', actionable_items = [] }: FeedbackInput) => ({
  feedback,
  feedback_type,
  priority,
  actionable_items: JSON.stringify(actionable_items),
});

async function again(tx: Tx, row: ReviewFeedbackRow, input: FeedbackInput): Promise<ReviewFeedbackRow> {
  const isSame = Object.entries(wordsOf(input)).every(([name, value]) => row[name as keyof ReviewFeedbackRow] === value);
  if (!isSame) {
    throw new Refusal('FEEDBACK_ALREADY_SENT', `${row.review_instance} has already sent its feedback (${row.id}).`, 'Stop: a review sends its result once.', {
      feedback_id: row.id,
    });
  }
  if (row.step !== 'merging') return row;
  const taken = isOverdue(row, tx.now) ? await takeOver(tx, row) : undefined;
  if (!taken) throw underWay();
  return taken;
}

const underWay = (): Refusal =>
  new Refusal('FEEDBACK_UNDER_WAY', 'Your feedback is being delivered.', 'Repeat the call with the same arguments for its result.');

/** Returns the coding agent whose work the caller reviews. Refuses if that agent does not wait for feedback. */
async function requireTarget(db: Db, review: InstanceRow): Promise<{ parent: InstanceRow; iteration: number }> {
  const relationship = await reviewedBy(db, review.workspace_id, review.id);
  if (!relationship) {
    throw notFound(
      'RELATIONSHIP_NOT_FOUND',
      `${review.id} does not review any work.`,
      'Tell your user: only a review agent that request_review started can send feedback.',
    );
  }
  const parent = await requireInstance(db, review.workspace_id, relationship.parent_instance);
  const over = relationship.ended_at === null ? null : `The review by ${review.id} has ended (${relationship.outcome}).`;
  const notWaiting = allows('review over', parent.status) ? null : `${parent.id} is ${parent.status} and does not wait for feedback.`;
  const why = over ?? notWaiting;
  if (why !== null) throw invalidState(why, 'Stop: nothing is left to do.', { status: review.status, target_instance_id: parent.id });
  if (parent.step === 'pull')
    throw new Refusal(
      'BUSY',
      `A pull request of ${parent.id} is being created.`,
      'If you called create_pull_request, wait for its result. Otherwise repeat this call in a minute.',
    );
  return { parent, iteration: relationship.review_iteration };
}

async function answer(db: Db, row: ReviewFeedbackRow): Promise<Output<typeof sendFeedback>> {
  const review = await requireInstance(db, row.workspace_id, row.review_instance);
  return {
    feedback_id: row.id,
    git_commit_hash: row.git_commit_hash,
    target_instance_id: row.coding_instance,
    cleanup_status: review.ended_at === null ? 'terminating' : 'terminated',
    delivered: row.delivered ?? 'message',
    reason: row.reason,
  };
}

const STEPS_MS = 5_000;

/** Delivers feedback whose delivery was interrupted because a process died. */
export function feedbackSweep(services: Services, outside: InstanceOutside, ports: InstancePorts): Sweep {
  const { reader } = services.store;
  return {
    name: 'review feedback',
    everyMs: STEPS_MS,
    async run() {
      await finishOverdue(services, await feedbackUnderWay(reader, outside.machine), (runner, row) => deliver(outside, ports, runner, reader, row));
    },
  };
}
