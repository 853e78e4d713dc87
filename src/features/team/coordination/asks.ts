import { agentTypeOf } from '../../../kernel/actor.ts';
import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import { notFound, ok, type Refusal, refused } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { changeRows, insertRows, newId } from '../../../storage/rows.ts';
import type { AskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, PRIVATE } from '../../core/identity/index.ts';
import { addresseeOf, isAddressedTo } from './addressee.ts';
import { ask, reply } from './contract.ts';
import { boundedDetails } from './event-details.ts';
import { viewsFor } from './present.ts';
import { findAsk } from './store.ts';

const DEFAULT_DUE_MINUTES = 60;
const MINUTE = 60_000;

export const askTools: Implementation[] = [
  implement(ask, {
    write: async (tx, { to, message, due_in_minutes = DEFAULT_DUE_MINUTES, repo, paths = [] }, ctx) => {
      const developerId = callingDeveloper(ctx.principal);
      const addressee = await addresseeOf(tx.db, tx.workspace, ctx.principal, to);
      const id = newId('ask', tx.now);
      const due_at = tx.now + due_in_minutes * MINUTE;
      await insertRows(tx.db, 'asks', {
        workspace_id: tx.workspace,
        id,
        from_developer_id: developerId,
        from_actor: ctx.principal.actor,
        session_id: ctx.session,
        to_developer_id: addressee.developerId,
        to_agent_type: addressee.agentType,
        message,
        repo: repo ?? null,
        paths: JSON.stringify(paths),
        created_at: tx.now,
        due_at,
        delivered_at: null,
        read_at: null,
        answer: null,
        answered_at: null,
        answer_delivered_at: null,
      });
      const payload = {
        ask_id: id,
        to: addressee.developerId,
        to_agent_type: addressee.agentType,
        due_at,
        ...boundedDetails({ message, repo: repo ?? null, paths }),
      };
      record(tx, ctx, { category: 'work', kind: 'ask.sent', subject: id, payload });
      return ok(
        { ask_id: id, due_at, receipt: 'sent' },
        'Sent. The answer arrives with one of your next heartbeats. covibe_coordination with operation "list" shows the receipts.',
      );
    },
  }),
  implement(reply, {
    write: async (tx, { ask_id, message }, ctx) => {
      const row = await findAsk(tx.db, tx.workspace, ask_id);
      if (!row || !isAddressedTo(row, ctx.principal)) throw askNotFound(ask_id);
      if (row.answered_at !== null) {
        const to = askerFor(row, ctx.principal, (await viewsFor(tx.db, ctx.principal, tx.now)).name(row.from_developer_id));
        return refused(
          'warning',
          'ASK_ALREADY_ANSWERED',
          'This ask is already answered. The first answer counts.',
          to === null ? 'Nothing to do.' : `To say more, call covibe_coordination with operation "ask", to ${JSON.stringify(to)} and a message.`,
          {
            ask_id,
            receipt: 'answered',
            answered_at: row.answered_at,
          },
        );
      }
      await answerAsk(tx, ctx, row, message);
      return ok({ ask_id, receipt: 'answered' }, 'Answered.');
    },
  }),
];

/**
 * The value of `to` with which the caller can send an ask to the author of this one. Null if the author is private or is the caller's own
 * agent of the same type, because neither can be addressed.
 */
function askerFor({ from_developer_id, from_actor }: AskRow, { developerId, agentType }: Principal, from: string): string | null {
  if (from === PRIVATE) return null;
  if (from_developer_id !== developerId) return from;
  const type = agentTypeOf(from_actor);
  return type === null || type === agentType ? null : `${type}@${from}`;
}

/** Stores an answer. Callers must first check that the person may answer and that the ask is still unanswered. */
export async function answerAsk(tx: Tx, ctx: WriteContext, { id, delivered_at, read_at, due_at }: AskRow, answer: string): Promise<void> {
  // Somebody who answers an ask has received and read it.
  const receipts = { delivered_at: delivered_at ?? tx.now, read_at: read_at ?? tx.now };
  await changeRows(tx.db, 'asks', { workspace_id: tx.workspace, id: id }, { ...receipts, answer, answered_at: tx.now });
  const payload = { ask_id: id, late: tx.now > due_at, ...boundedDetails({ answer }) };
  record(tx, ctx, { category: 'work', kind: 'ask.answered', subject: id, payload });
}

/** An ask that was sent to somebody else gets the same message as a missing one, so that nobody can probe for ids. */
const askNotFound = (id: string): Refusal =>
  notFound(
    'ASK_NOT_FOUND',
    `Ask ${JSON.stringify(id)} does not exist or was not sent to you.`,
    'Call covibe_coordination with operation "list" and what "asks" to see the asks sent to you.',
    'ask_id',
  );
