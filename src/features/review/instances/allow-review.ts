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

/** Maximum number of extra reviews per instance. Without this maximum, people could raise the review limit forever. */
const MAX_EXTRA = 100;

/** Adds or withdraws one extra review for this instance. If that decides whether the agent may request another review, the agent is notified. */
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
    throw new Refusal('NOTHING_TO_WITHDRAW', `${row.id} has no unused extra review.`, `Run \`covenant instances show ${row.id}\` for its reviews.`, {
      instance_id,
    });
  }
  if (!withdraw && row.extra_reviews >= MAX_EXTRA) {
    throw new Refusal(
      'TOO_MANY_REVIEWS',
      `${row.id} already has the maximum of ${MAX_EXTRA} extra reviews.`,
      `Review the work yourself with \`covenant instances diff ${row.id}\`, or run \`covenant instances abandon ${row.id}\`.`,
    );
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
    throw new Refusal(
      'WRONG_AGENT_TYPE',
      `${id} is a ${type} agent; only the work of coding agents is reviewed.`,
      'Run `covenant instances list --type coding` for coding agents.',
    );
  }
  if (AT_WORK.includes(status)) return;
  throw invalidState(`${id} is ${status}, so its work cannot be reviewed any more.`, `Run \`covenant instances show ${id}\` for its state.`, { status });
}

const wordsFor = (withdraw: boolean, ran: number, allowed: number) =>
  withdraw
    ? { subject: 'No further review is allowed', body: `You have had ${ran} of ${allowed} reviews. Open the pull request with create_pull_request.` }
    : { subject: 'One more review is allowed', body: `You have had ${ran} of ${allowed} reviews. Commit, then call request_review.` };
