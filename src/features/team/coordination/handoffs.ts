import { record, type WriteContext } from '../../../kernel/call.ts';
import { notFound, ok, type Refusal, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, insertRows, newId } from '../../../storage/rows.ts';
import type { ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import { addresseeOf, isAddressedTo } from './addressee.ts';
import { claimNotFound, MAX_LIVE_CLAIMS, markClaimed, requireOpenSession } from './claims.ts';
import { conflict } from './conflicts.ts';
import { acceptHandoff, handoff } from './contract.ts';
import { boundedDetails } from './event-details.ts';
import { viewsFor } from './present.ts';
import { claimedBy, findHandoff, liveClaimRows, readStrings } from './store.ts';

/** What handoffs need from the features that store tasks and contexts. */
export interface HandoffPorts {
  ownsTask(db: Db, workspace: string, developerId: string, id: string): Promise<boolean>;
  /** The giver's latest active context in this repository and branch. */
  contextOf(
    db: Db,
    workspace: string,
    developerId: string,
    where: { repo?: string; branch?: string },
    now: number,
  ): Promise<{ readonly id: string } | undefined>;
  /** Returns the context that a handoff refers to or, if that one was replaced, its replacement. */
  standingContext(db: Db, workspace: string, id: string, now: number): Promise<{ readonly id: string } | undefined>;
  /** Transfers the tasks that the giver still owns to the receiver, and returns their ids. */
  onHandoff(tx: Tx, ctx: WriteContext, given: { taskIds: string[]; toDeveloperId: string; fromDeveloperId: string }): Promise<string[]>;
}

export function handoffTools({ ownsTask, contextOf, standingContext, onHandoff }: HandoffPorts): Implementation[] {
  return [
    implement(handoff, {
      write: async (tx, { to, message, task_ids = [], claim_ids = [], repo, branch }, ctx) => {
        const developerId = callingDeveloper(ctx.principal);
        const addressee = await addresseeOf(tx.db, tx.workspace, ctx.principal, to);
        const [taskIds, claimIds] = [[...new Set(task_ids)], [...new Set(claim_ids)]];
        for (const id of taskIds)
          if (!(await ownsTask(tx.db, tx.workspace, developerId, id)))
            throw notFound(
              'TASK_NOT_FOUND',
              `Task ${JSON.stringify(id)} does not exist or is not yours.`,
              'Call covibe_team with operation "state" to see your tasks, and name only those in `task_ids`.',
              'task_ids',
            );
        const own = new Set((await liveClaimRows(tx.db, tx.workspace, tx.now, developerId)).map(({ id }) => id));
        for (const id of claimIds) if (!own.has(id)) throw claimNotFound('claim_ids', id);
        const where = { ...(repo === undefined ? {} : { repo }), ...(branch === undefined ? {} : { branch }) };
        const context = await contextOf(tx.db, tx.workspace, developerId, where, tx.now);
        const row: HandoffRow = {
          workspace_id: tx.workspace,
          id: newId('handoff', tx.now),
          from_developer_id: developerId,
          session_id: ctx.session,
          to_developer_id: addressee.developerId,
          to_agent_type: addressee.agentType,
          message,
          task_ids: JSON.stringify(taskIds),
          claim_ids: JSON.stringify(claimIds),
          repo: repo ?? null,
          branch: branch ?? null,
          context_id: context?.id ?? null,
          status: 'offered',
          created_at: tx.now,
          accepted_at: null,
          taken_task_ids: '[]',
          taken_claim_ids: '[]',
        };
        await insertRows(tx.db, 'handoffs', row);
        const offer = { handoff_id: row.id, to: row.to_developer_id, to_agent_type: row.to_agent_type, context_id: row.context_id };
        const payload = { ...offer, task_ids: taskIds, claim_ids: claimIds, ...boundedDetails({ message, repo: row.repo, branch: row.branch }) };
        record(tx, ctx, { category: 'work', kind: 'handoff.offered', subject: row.id, payload });
        const notice = row.context_id
          ? 'Offered with your published context.'
          : 'Offered without a context, because you have no active one. To attach one, call covibe_session with operation "publish_context", then hand off again.';
        return ok({ handoff_id: row.id, context_id: row.context_id }, notice);
      },
    }),
    implement(acceptHandoff, {
      write: async (tx, { handoff_id }, ctx) => {
        const row = await findHandoff(tx.db, tx.workspace, handoff_id);
        if (!row || !isAddressedTo(row, ctx.principal)) throw handoffNotFound(handoff_id);
        const show = await viewsFor(tx.db, ctx.principal, tx.now);
        const context = row.context_id === null ? undefined : await standingContext(tx.db, tx.workspace, row.context_id, tx.now);
        const answer = (taskIds: string[], claimIds: string[]) => ({
          handoff_id,
          from: show.name(row.from_developer_id),
          message: row.message,
          context_id: context?.id ?? null,
          task_ids: taskIds,
          claim_ids: claimIds,
          not_taken: [...readStrings(row.task_ids), ...readStrings(row.claim_ids)].filter((id) => !taskIds.includes(id) && !claimIds.includes(id)),
        });
        if (row.status === 'accepted') {
          const data = answer(readStrings(row.taken_task_ids), readStrings(row.taken_claim_ids));
          return refused('warning', 'HANDOFF_ALREADY_ACCEPTED', 'You already accepted this handoff. Nothing was changed.', 'Continue the work.', data);
        }
        const given = { taskIds: readStrings(row.task_ids), toDeveloperId: row.to_developer_id, fromDeveloperId: row.from_developer_id };
        const taskIds = given.taskIds.length > 0 ? await onHandoff(tx, ctx, given) : [];
        const claimIds = await takeClaims(tx, ctx, row);
        const taken = { taken_task_ids: JSON.stringify(taskIds), taken_claim_ids: JSON.stringify(claimIds) };
        await changeRows(tx.db, 'handoffs', { workspace_id: tx.workspace, id: handoff_id }, { status: 'accepted', accepted_at: tx.now, ...taken });
        const payload = { handoff_id, from: row.from_developer_id, context_id: context?.id ?? null, task_ids: taskIds, claim_ids: claimIds };
        record(tx, ctx, { category: 'work', kind: 'handoff.accepted', subject: handoff_id, payload });
        const next = context
          ? `Fetch its context: covibe_session with operation "get_context" and context_id "${context.id}".`
          : 'It has no active context. If you need one, ask the giver.';
        return ok(answer(taskIds, claimIds), `Accepted. ${next}`);
      },
    }),
  ];
}

/**
 * Transfers the claims that the giver still holds to the receiving agent, each with the rest of its lease. A claim stays with the giver if
 * it would conflict with a claim that is not transferred, or if the receiver has reached the claim limit.
 */
async function takeClaims(tx: Tx, ctx: WriteContext, row: HandoffRow): Promise<string[]> {
  const offered = new Set(readStrings(row.claim_ids));
  if (offered.size === 0) return [];
  await requireOpenSession(tx, ctx);
  const live = await liveClaimRows(tx.db, tx.workspace, tx.now);
  const receiver = { developer_id: row.to_developer_id, actor: ctx.principal.actor, agent_type: ctx.principal.agentType, session_id: ctx.session };
  const asReceived = (claim: ClaimRow): ClaimRow => ({ ...claim, ...receiver });
  const room =
    row.to_developer_id === row.from_developer_id ? offered.size : MAX_LIVE_CLAIMS - live.filter((claim) => claim.developer_id === row.to_developer_id).length;
  let passing = live.filter((claim) => offered.has(claim.id) && claim.developer_id === row.from_developer_id).slice(0, Math.max(0, room));
  for (;;) {
    const staying = live.filter((claim) => !passing.includes(claim));
    const fitting = passing.filter((claim) => !staying.some((other) => conflict(claimedBy(asReceived(claim)), claimedBy(other))));
    if (fitting.length === passing.length) break;
    passing = fitting;
  }
  for (const claim of passing) {
    await changeRows(tx.db, 'claims', { workspace_id: tx.workspace, id: claim.id }, receiver);
    await markClaimed(tx, asReceived(claim));
  }
  return passing.map(({ id }) => id);
}

/** A handoff that was offered to somebody else gets the same message as a missing one, so that nobody can probe for ids. */
const handoffNotFound = (id: string): Refusal =>
  notFound(
    'HANDOFF_NOT_FOUND',
    `Handoff ${JSON.stringify(id)} does not exist or was not offered to you.`,
    'Call covibe_coordination with operation "list" and what "handoffs" to see handoffs offered to you.',
    'handoff_id',
  );
