import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidState, Refusal } from '../../../kernel/reply.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import { HUMAN } from '../../workflow/messages/index.ts';
import type { instancesAllowReview } from './contract.ts';
import { requireInstance } from './guards.ts';
import { AT_WORK, isAtLimit, reviewsAllowed, withNews } from './lifecycle.ts';
import type { InstancePorts } from './ports.ts';
import { changeInstance, reviewsOf } from './store.ts';

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
  if (turns) await ports.sendMessage(tx, { from: HUMAN, to: row.agent_id, actor: ctx.principal.actor, ...words });
  const payload = { reviews: ran, max_reviews: allowed, extra_reviews: values.extra_reviews };
  record(tx, ctx, { category: 'work', kind: withdraw ? 'instance.review_withdrawn' : 'instance.review_allowed', subject: row.id, payload });
  return { ...row, ...values };
}

function requireReviewed({ id, type, status }: InstanceRow): void {
  if (type !== 'coding') {
    throw new Refusal('WRONG_AGENT_TYPE', `${id} is a ${type} agent; only the work of coding agents is reviewed.`, 'covenant instances list --type coding');
  }
  if (AT_WORK.includes(status)) return;
  throw invalidState(`${id} is ${status}: its work is not reviewed any more.`, `covenant instances show ${id}`, { status });
}

const wordsFor = (withdraw: boolean, ran: number, allowed: number) =>
  withdraw
    ? { subject: 'No further review is allowed', body: `You have had ${ran} of ${allowed} reviews. Open the pull request with create_pull_request.` }
    : { subject: 'One more review is allowed', body: `You have had ${ran} of ${allowed} reviews. Commit, then call request_review.` };
