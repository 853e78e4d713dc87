import { record, type WriteContext } from '../../../kernel/context.ts';
import type { Input } from '../../../kernel/contract.ts';
import { Refusal } from '../../../kernel/errors.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type ReviewLimits, reviewLimits } from '../../core/settings/index.ts';
import { HUMAN } from '../../workflow/messages/index.ts';
import type { instancesAllowReview } from './contract.ts';
import { AT_WORK } from './lifecycle.ts';
import type { InstancePorts } from './step.ts';
import { withNews } from './stop.ts';
import { changeInstance, reviewsOf } from './store.ts';
import { requireInstance } from './views.ts';

export const SUGGESTIONS = [
  'Create pull request with current work',
  'Abandon this approach and try different solution',
  'Manually review and fix issues before requesting review',
] as const;

/** Reviews that ran are counted by their relationships; a refusal is none of them. */
export const isAtLimit = (ran: number, allowed: number): boolean => ran >= allowed;

/** The workspace's limit, and what a person has allowed this one beyond it. */
export const reviewsAllowed = ({ extra_reviews }: Pick<InstanceRow, 'extra_reviews'>, { maxIterations }: ReviewLimits): number => maxIterations + extra_reviews;

/** Refused requests and verdicts `needs_work` are counted apart from the reviews that ran. */
export const isGivenUp = (failed: number, { autoAbandonAfter }: ReviewLimits): boolean => failed >= autoAbandonAfter;

export const isStuck = (createdAt: number, now: number, { timeoutHours }: ReviewLimits): boolean => now - createdAt >= timeoutHours * 3_600_000;

/** A limit that is raised without end is none. */
const MAX_EXTRA = 100;

/** One review more, or one less, for this instance alone. It hears of it where that changes what it may do next. */
export async function allowReview(
  tx: Tx,
  ports: InstancePorts,
  ctx: WriteContext,
  { instance_id, withdraw }: Input<typeof instancesAllowReview>,
): Promise<InstanceRow> {
  const row = await requireInstance(tx.db, tx.workspace, instance_id);
  requireReviewed(row);
  const ran = (await reviewsOf(tx.db, tx.workspace, row.id)).length;
  const before = reviewsAllowed(row, await reviewLimits(tx.db, tx.workspace));
  if (withdraw && (row.extra_reviews === 0 || isAtLimit(ran, before))) {
    throw new Refusal('NOTHING_TO_WITHDRAW', `${row.id} has no review left that a person has allowed.`, `covenant instances show ${row.id}`, { instance_id });
  }
  if (!withdraw && row.extra_reviews >= MAX_EXTRA) {
    throw new Refusal('TOO_MANY_REVIEWS', `${row.id} has been allowed ${MAX_EXTRA} more reviews already.`, 'Abandon it, or look at its work yourself.');
  }
  const step = withdraw ? -1 : 1;
  const allowed = before + step;
  const turns = isAtLimit(ran, before) !== isAtLimit(ran, allowed);
  const words = wordsFor(withdraw, ran, allowed);
  const values = { extra_reviews: row.extra_reviews + step, updated_at: tx.now, ...(turns && { news: withNews(row, `${words.subject}. ${words.body}`) }) };
  await changeInstance(tx.db, row, values);
  if (turns) await ports.tell(tx, { from: HUMAN, to: row.agent_id, actor: ctx.principal.actor, ...words });
  const payload = { reviews: ran, max_reviews: allowed, extra_reviews: values.extra_reviews };
  record(tx, ctx, { category: 'work', kind: withdraw ? 'instance.review_withdrawn' : 'instance.review_allowed', subject: row.id, payload });
  return { ...row, ...values };
}

function requireReviewed({ id, type, status }: InstanceRow): void {
  if (type !== 'coding') {
    throw new Refusal('WRONG_AGENT_TYPE', `${id} is a ${type} agent; only the work of coding agents is reviewed.`, 'covenant instances list --type coding');
  }
  if (AT_WORK.includes(status)) return;
  throw new Refusal('INVALID_STATE', `${id} is ${status}: its work is not reviewed any more.`, `covenant instances show ${id}`, { status });
}

const wordsFor = (withdraw: boolean, ran: number, allowed: number) =>
  withdraw
    ? { subject: 'No further review is allowed', body: `You have had ${ran} of ${allowed} reviews. Open the pull request with create_pull_request.` }
    : { subject: 'One more review is allowed', body: `You have had ${ran} of ${allowed} reviews. Commit, then call request_review.` };
