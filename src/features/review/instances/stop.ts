import { record, type WriteContext } from '../../../kernel/call.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { beginEnding } from './end.ts';
import { requireHere, requireIdle, requireInstance } from './guards.ts';
import { allows } from './lifecycle.ts';
import { reviewOver } from './review-over.ts';
import { type InstanceOutside, type InstancePorts, type LeasedInstance, takeOver } from './step.ts';
import { findInstance, reviewsOf } from './store.ts';

/** What a person's word has made of an instance. `leased`: what is to be taken from the machine now, itself first. */
export interface TakenAway {
  readonly row: InstanceRow;
  readonly leased: readonly LeasedInstance[];
}

interface EndRequest {
  readonly instance_id: string;
  readonly reason?: string | undefined;
}

type StopServices = { readonly outside: InstanceOutside; readonly ports: InstancePorts };

/** Ends its agent. Work that is a pull request stays that. */
export async function stop(tx: Tx, services: StopServices, ctx: WriteContext, { instance_id, reason }: EndRequest): Promise<TakenAway> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.step === 'ending') return await goOnEnding(tx, row);
  if (row.ended_at !== null) return { row, leased: [] };
  const status_reason = inWords('stopped', ctx, reason);
  record(tx, ctx, { category: 'work', kind: 'instance.stopped', subject: row.id, payload: { type: row.type, status: row.status } });
  if (row.type === 'review') {
    const leased = await endReview(tx, services, ctx, row, status_reason);
    return { row: leased, leased: [leased] };
  }
  const status = allows('stopped', row.status) ? 'terminated' : row.status;
  return await endWork(tx, services, ctx, row, { status, status_reason, news: null });
}

/** Gives its work up. */
export async function abandon(tx: Tx, services: StopServices, ctx: WriteContext, { instance_id, reason }: EndRequest): Promise<TakenAway> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.status === 'abandoned') return row.step === 'ending' ? await goOnEnding(tx, row) : { row, leased: [] };
  if (row.type === 'review') throw wrongState(row, 'A review is stopped, not abandoned', `covenant instances stop ${row.id}`);
  if (!allows('abandoned', row.status)) throw wrongState(row, `${row.id} is ${row.status}: there is nothing to abandon`, `covenant instances show ${row.id}`);
  record(tx, ctx, { category: 'work', kind: 'instance.abandoned', subject: row.id, payload: { automatic: false, status: row.status } });
  return await endWork(tx, services, ctx, row, { status: 'abandoned', status_reason: inWords('abandoned', ctx, reason), news: null });
}

/** Takes away what was kept of one that is over. */
export async function clean(tx: Tx, services: StopServices, { instance_id, force }: { instance_id: string; force: boolean }): Promise<TakenAway> {
  const row = await requireAtHand(tx, services, instance_id);
  if (row.ended_at === null && row.step !== 'ending') {
    throw wrongState(row, `${row.id} is not over: it is ${row.status}`, `covenant instances stop ${row.id}, or abandon it`);
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

/** Decided before, and left undone: by a server that died, or because none runs. */
async function goOnEnding(tx: Tx, row: InstanceRow): Promise<TakenAway> {
  const leased = await takeOver(tx, row);
  return { row: leased ?? row, leased: leased ? [leased] : [] };
}

/** Itself first: its review then finds nobody whom it would have to set free and to tell. One that is just being started finds it over, and is undone. */
async function endWork(tx: Tx, services: StopServices, ctx: WriteContext, row: InstanceRow, values: Partial<InstanceRow>): Promise<TakenAway> {
  const own = await beginEnding(tx, row, values, { force: false });
  const open = (await reviewsOf(tx.db, tx.workspace, row.id)).find(({ ended_at }) => ended_at === null);
  const review = open && (await findInstance(tx.db, tx.workspace, open.child_instance));
  if (!review || review.step === 'ending' || review.ended_at !== null) return { row: own, leased: [own] };
  const leased = await endReview(tx, services, ctx, review, `${row.id} was ${values.status}`);
  return { row: own, leased: review.machine === services.outside.machine ? [own, leased] : [own] };
}

async function endReview(tx: Tx, { outside, ports }: StopServices, ctx: WriteContext, review: InstanceRow, reason: string): Promise<LeasedInstance> {
  const underWay = (await ports.feedbackOf(tx.db, tx.workspace, review.id)).some(({ delivered }) => delivered === null);
  if (underWay)
    throw new Refusal('BUSY', `${review.id} is delivering its feedback at this moment.`, 'Call again in a few seconds.', { instance_id: review.id });
  return await reviewOver(tx, ports, review, {
    actor: ctx.principal.actor,
    outcome: 'stopped',
    reason,
    message: {
      subject: 'Your review was stopped',
      body: `${review.id} was stopped before it had feedback. Call request_review again, or create_pull_request.`,
    },
    // Of another machine: its own server's sweep takes it away.
    ...(review.machine === outside.machine ? {} : { graceMs: 0 }),
  });
}

const inWords = (what: string, { principal }: WriteContext, reason: string | undefined): string =>
  `${what} by ${principal.actor}${reason === undefined ? '' : `: ${reason}`}`;

const wrongState = ({ id, status }: InstanceRow, message: string, next: string): Refusal => invalidState(`${message}.`, next, { instance_id: id, status });
