import { type CallContext, record, type WriteContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { invalidState, ok, Refusal, type Reply } from '../../../kernel/reply.ts';
import { stepRunner } from '../../../kernel/step.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { view } from '../../../storage/rows.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { reviewLimits } from '../../core/settings/index.ts';
import { HUMAN } from '../../workflow/messages/index.ts';
import {
  instancesAbandon,
  instancesAllowReview,
  instancesClean,
  instancesList,
  instancesLogs,
  instancesMessage,
  instancesShow,
  instancesStart,
  instancesStop,
  relationshipView,
} from './contract.ts';
import { carryOutEnd } from './end.ts';
import { failuresOf } from './failures.ts';
import { requireInstance, requireWatchable } from './guards.ts';
import { AT_WORK, isAtLimit, isRunning, reviewsAllowed, withNews } from './lifecycle.ts';
import { planStart, reserve } from './reserve.ts';
import { carryOutStart, startFailed } from './start.ts';
import type { InstanceOutside, InstancePorts } from './step.ts';
import { abandon, clean, stop, type TakenAway } from './stop.ts';
import { changeInstance, listInstances, relationshipsOf, reviewsOf } from './store.ts';
import { instanceViewer } from './views.ts';

/** The end of what its terminal or log shows, or showed last. */
export async function outputOf(outside: InstanceOutside, row: InstanceRow, lines: number): Promise<string> {
  if (row.session_kind === null) return '';
  const sessions = await outside.sessions(row.session_kind);
  const there = row.session_kind === 'process' || row.ended_at === null || isRunning(row);
  const shown = there ? await sessions.screen({ name: row.session_name, pid: row.pid ?? 0, started: row.process_start ?? 0 }, lines) : '';
  return lastLines(shown || ((await outside.keptScreen(row.session_name)) ?? ''), lines);
}

/** A terminal is as high as it is, whatever is on it. */
function lastLines(text: string, most: number): string {
  return text.trimEnd().split('\n').slice(-most).join('\n');
}

/** More than this nobody types. */
const MAX_TYPED = 1_000;
const SUBJECT = 'A person writes to you';

/** A person's words: in the inbox of its agent, and before its eyes as feedback comes there. */
export async function messageAgent(
  tx: Tx,
  ports: InstancePorts,
  ctx: WriteContext,
  { instance_id, message }: Input<typeof instancesMessage>,
): Promise<Output<typeof instancesMessage>> {
  const row = await requireInstance(tx.db, tx.workspace, instance_id);
  if (row.step === 'ending' || row.ended_at !== null || !(AT_WORK.includes(row.status) || isRunning(row))) {
    throw invalidState(`${row.id} is ${row.status}, and no agent of it reads messages any more.`, `covenant instances show ${row.id}`, {
      instance_id,
      status: row.status,
    });
  }
  const message_id = await ports.tell(tx, { from: HUMAN, to: row.agent_id, actor: ctx.principal.actor, subject: SUBJECT, body: message, priority: 'high' });
  await changeInstance(tx.db, row, { news: withNews(row, typed(message, message_id)), updated_at: tx.now });
  record(tx, ctx, { category: 'work', kind: 'instance.messaged', subject: row.id, payload: { message_id } });
  return { instance_id, message_id, reaches: row.session_kind === 'tmux' && isRunning(row) ? 'terminal' : 'next_start' };
}

/** What does not fit on a line is left where it is. */
const typed = (message: string, id: string): string => {
  const line = message.replace(/\s+/g, ' ');
  return line.length <= MAX_TYPED ? `${SUBJECT} (${id}): ${line}` : `${SUBJECT} (${id}): call message_list to read it.`;
};

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
  throw invalidState(`${id} is ${status}: its work is not reviewed any more.`, `covenant instances show ${id}`, { status });
}

const wordsFor = (withdraw: boolean, ran: number, allowed: number) =>
  withdraw
    ? { subject: 'No further review is allowed', body: `You have had ${ran} of ${allowed} reviews. Open the pull request with create_pull_request.` }
    : { subject: 'One more review is allowed', body: `You have had ${ran} of ${allowed} reviews. Commit, then call request_review.` };

/** What people do with instances: on the dashboard and at a terminal. */
export function instanceActions(outside: InstanceOutside, ports: InstancePorts): Implementation[] {
  const services = { outside, ports };

  /** Decided in one transaction, carried out at once; by the sweep, should this process not live to see it. */
  async function takeAway(ctx: CallContext, decide: (tx: Tx) => Promise<TakenAway>): Promise<Reply<Output<typeof instancesStop>>> {
    const { row, leased } = await ctx.write(decide);
    let after = row;
    for (const one of leased) {
      const ended = await carryOutEnd(outside, ports, stepRunner(ctx), one);
      if (one.id === row.id) after = ended;
    }
    return ok(await ending(ctx, after));
  }

  return [
    implement(instancesStart, {
      run: async (input, ctx) => {
        const planned = await planStart(outside, ctx, input);
        const { actor, developerId } = ctx.principal;
        const leased = await ctx.write(async (tx) => reserve(tx, outside, ports, actor, { ...planned, developer: await ports.developerOf(tx, developerId) }));
        const started = await carryOutStart(outside, ports, stepRunner(ctx, ctx.signal), leased);
        if ('failure' in started) throw startFailed(started.failure);
        return ok((await instanceViewer(ctx.reader, ctx.principal, [started.row])).view(started.row));
      },
    }),
    implement(instancesList, {
      read: async (filter, ctx) => {
        const { rows, total } = await listInstances(ctx.reader, ctx.workspace, { ...filter, viewer: ctx.principal });
        return ok({ items: rows.map((await instanceViewer(ctx.reader, ctx.principal, rows)).view), total });
      },
    }),
    implement(instancesShow, {
      read: async ({ instance_id }, ctx) => {
        const row = await requireInstance(ctx.reader, ctx.workspace, instance_id);
        const viewer = await instanceViewer(ctx.reader, ctx.principal, [row]);
        const hidden = viewer.isHidden(row);
        return ok({
          instance: viewer.view(row),
          prompt: hidden ? null : row.prompt,
          attach: hidden ? null : await attachCommand(outside, row),
          relationships: (await relationshipsOf(ctx.reader, ctx.workspace, row.id)).map((row) => view(relationshipView, row, {})),
          feedback: hidden ? [] : await ports.feedbackOf(ctx.reader, ctx.workspace, row.id),
          failures: hidden ? [] : await failuresOf(ctx.reader, row),
        });
      },
    }),
    implement(instancesMessage, { write: async (tx, input, ctx) => ok(await messageAgent(tx, ports, ctx, input)) }),
    implement(instancesAllowReview, {
      write: async (tx, input, ctx) => {
        const row = await allowReview(tx, ports, ctx, input);
        return ok((await instanceViewer(tx.db, ctx.principal, [row])).view(row));
      },
    }),
    implement(instancesLogs, {
      read: async ({ instance_id, lines }, ctx) => {
        const row = await requireWatchable(ctx.reader, ctx.principal, instance_id, outside.machine);
        return ok({ instance_id, text: await outputOf(outside, row, lines), running: isRunning(row) });
      },
    }),
    implement(instancesStop, { run: (input, ctx) => takeAway(ctx, (tx) => stop(tx, services, ctx, input)) }),
    implement(instancesAbandon, { run: (input, ctx) => takeAway(ctx, (tx) => abandon(tx, services, ctx, input)) }),
    implement(instancesClean, { run: (input, ctx) => takeAway(ctx, (tx) => clean(tx, services, input)) }),
  ];
}

async function ending(ctx: CallContext, row: InstanceRow): Promise<Output<typeof instancesStop>> {
  const instance = (await instanceViewer(ctx.reader, ctx.principal, [row])).view(row);
  // Another has taken it over, and is at it.
  const reason = row.step === 'ending' ? 'it is being ended at this moment' : instance.kept_reason;
  return { instance, worktree: reason === null ? 'removed' : 'kept', reason, backup_ref: row.backup_ref };
}

/** To look on: who wants to type leaves the `-r` out. */
async function attachCommand(outside: InstanceOutside, row: InstanceRow): Promise<string[] | null> {
  if (row.session_kind !== 'tmux' || row.machine !== outside.machine || !isRunning(row)) return null;
  const [socket, path, command, ...target] = (await outside.tmux())?.attachArgs(row.session_name) ?? [];
  return socket && path && command ? ['tmux', socket, path, command, '-r', ...target] : null;
}
