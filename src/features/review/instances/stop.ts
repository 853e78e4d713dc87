import { record, type WriteContext } from '../../../kernel/call.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { concludeReview } from './conclude-review.ts';
import { beginEnding } from './end.ts';
import { requireHere, requireIdle, requireInstance } from './guards.ts';
import { allows } from './lifecycle.ts';
import type { InstanceOutside, InstancePorts } from './ports.ts';
import { type LeasedInstance, takeOver } from './step.ts';
import { findInstance, reviewsOf } from './store.ts';

/** The instance after a person's decision, and the instances that must now be removed from the machine. In that list, the instance itself comes first. */
export interface EndDecision {
  readonly row: InstanceRow;
  readonly leased: readonly LeasedInstance[];
}

interface EndRequest {
  readonly instance_id: string;
  readonly reason?: string | undefined;
}

type StopServices = { readonly outside: InstanceOutside; readonly ports: InstancePorts };

/** Stops the agent of an instance. A pull request of the instance stays open. */
export async function stop(tx: Tx, services: StopServices, ctx: WriteContext, { instance_id, reason }: EndRequest): Promise<EndDecision> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.step === 'ending') return await goOnEnding(tx, row);
  if (row.ended_at !== null) return { row, leased: [] };
  const status_reason = statusReason('stopped', ctx, reason);
  record(tx, ctx, { category: 'work', kind: 'instance.stopped', subject: row.id, payload: { type: row.type, status: row.status } });
  if (row.type === 'review') {
    const leased = await endReview(tx, services, ctx, row, status_reason);
    return { row: leased, leased: [leased] };
  }
  const status = allows('stopped', row.status) ? 'terminated' : row.status;
  return await endWork(tx, services, ctx, row, { status, status_reason, news: null });
}

/** Abandons the work of an instance. */
export async function abandon(tx: Tx, services: StopServices, ctx: WriteContext, { instance_id, reason }: EndRequest): Promise<EndDecision> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.status === 'abandoned') return row.step === 'ending' ? await goOnEnding(tx, row) : { row, leased: [] };
  if (row.type === 'review') throw wrongState(row, `${row.id} is a review, which can only be stopped`, `Run \`covenant instances stop ${row.id}\`.`);
  if (!allows('abandoned', row.status))
    throw wrongState(row, `${row.id} is ${row.status}, so there is nothing to abandon`, `Run \`covenant instances show ${row.id}\` for its state.`);
  record(tx, ctx, { category: 'work', kind: 'instance.abandoned', subject: row.id, payload: { automatic: false, status: row.status } });
  return await endWork(tx, services, ctx, row, { status: 'abandoned', status_reason: statusReason('abandoned', ctx, reason), news: null });
}

/** Removes the kept worktree of an ended instance. */
export async function clean(tx: Tx, services: StopServices, { instance_id, force }: { instance_id: string; force: boolean }): Promise<EndDecision> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.ended_at === null && row.step !== 'ending') {
    throw wrongState(
      row,
      `${row.id} has not ended: it is ${row.status}`,
      `Run \`covenant instances stop ${row.id}\` or \`covenant instances abandon ${row.id}\` first.`,
    );
  }
  if (row.ended_at !== null && row.kept_reason === null) return { row, leased: [] };
  const leased = await beginEnding(tx, row, {}, { force });
  return { row: leased, leased: [leased] };
}

async function requireAtHand(tx: Tx, { outside }: StopServices, id: string): Promise<InstanceRow> {
  const row = await requireInstance(tx.db, tx.workspace, id);
  requireHere(row, outside.machine);
  requireIdle(row, tx.now);
  return row;
}

/** Completes an end that was decided earlier. It was not carried out, because the server died or no server was running. */
async function goOnEnding(tx: Tx, row: InstanceRow): Promise<EndDecision> {
  const leased = await takeOver(tx, row);
  return { row: leased ?? row, leased: leased ? [leased] : [] };
}

/**
 * Ends the instance before its review, because otherwise the end of the review would restart the instance. A review that is still being started is
 * undone when it finds that the instance has ended.
 */
async function endWork(tx: Tx, services: StopServices, ctx: WriteContext, row: InstanceRow, values: Partial<InstanceRow>): Promise<EndDecision> {
  const own = await beginEnding(tx, row, values, { force: false });
  const open = (await reviewsOf(tx.db, tx.workspace, row.id)).find(({ ended_at }) => ended_at === null);
  const review = open && (await findInstance(tx.db, tx.workspace, open.child_instance));
  if (!review || review.step === 'ending' || review.ended_at !== null) return { row: own, leased: [own] };
  const leased = await endReview(tx, services, ctx, review, `${row.id} was ${values.status}`);
  return { row: own, leased: review.machine === services.outside.machine ? [own, leased] : [own] };
}

async function endReview(tx: Tx, { outside, ports }: StopServices, ctx: WriteContext, review: InstanceRow, reason: string): Promise<LeasedInstance> {
  const underWay = (await ports.feedbackOf(tx.db, tx.workspace, review.id)).some(({ delivered }) => delivered === null);
  if (underWay) throw new Refusal('BUSY', `${review.id} is delivering its feedback now.`, 'Repeat the call in a few seconds.', { instance_id: review.id });
  return await concludeReview(tx, ports, review, {
    actor: ctx.principal.actor,
    outcome: 'stopped',
    reason,
    message: {
      subject: 'Your review was stopped',
      body: `${review.id} was stopped before it sent feedback. Call request_review again, or create_pull_request.`,
    },
    // If the review runs on another machine, the server on that machine removes it.
    ...(review.machine === outside.machine ? {} : { graceMs: 0 }),
  });
}

const statusReason = (what: string, { principal }: WriteContext, reason: string | undefined): string =>
  `${what} by ${principal.actor}${reason === undefined ? '' : `: ${reason}`}`;

const wrongState = ({ id, status }: InstanceRow, message: string, next: string): Refusal => invalidState(`${message}.`, next, { instance_id: id, status });
