import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows } from '../../../storage/rows.ts';
import type { AskRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { activeSessions } from '../sessions/index.ts';
import type { Waiting } from './contract.ts';
import { renewClaims } from './lease.ts';
import { isUndelivered } from './present.ts';
import { asksToDeliver, findAsk, freshAnswers, type HandoffMark, handoffsTo, unseenHandoffsTo } from './store.ts';

/** A reply includes at most this many items of each kind, with shortened texts. covibe_coordination `list` returns all of them in full. */
const MAX_ITEMS = 10;
const CONSIDERED = 100;
const EXCERPT_BYTES = 500;

/** Restricts what `waitingFor` returns. Without a filter, it returns all unanswered asks and the newest handoffs. */
interface WaitingFilter {
  /** Only asks that were not delivered yet. */
  readonly undelivered?: boolean;
  /** If set, handoffs are returned in the order of `unseenHandoffsTo`. */
  readonly handoffs?: HandoffMark;
}

/** Asks, answers and handoffs for this agent, and for this session if it has one. */
export async function waitingFor(
  db: Db,
  workspace: string,
  principal: Principal,
  now: number,
  sessionId: string | null,
  filter: WaitingFilter = {},
): Promise<Waiting> {
  const { developerId, agentType, actor } = principal;
  if (!developerId) return { waiting: [], answers: [], handoffs: [] };
  const unanswered = await asksToDeliver(db, workspace, developerId, agentType, now, MAX_ITEMS);
  const asks = filter.undelivered ? unanswered.filter(isUndelivered) : unanswered;
  const fresh = await freshAnswers(db, workspace, developerId, actor, CONSIDERED);
  const answers = (await answersFor(db, workspace, fresh, sessionId, now)).slice(0, MAX_ITEMS);
  const handoffs = await (filter.handoffs
    ? unseenHandoffsTo(db, workspace, developerId, agentType, filter.handoffs, MAX_ITEMS)
    : handoffsTo(db, workspace, developerId, agentType, MAX_ITEMS));
  if (asks.length + answers.length + handoffs.length === 0) return { waiting: [], answers: [], handoffs: [] };
  const { name } = await viewerOf(db, principal);
  const short = (text: string) => excerpt(text, EXCERPT_BYTES);
  return {
    waiting: asks.map((ask) => ({ ask_id: ask.id, from: name(ask.from_developer_id), message: short(ask.message), due_at: ask.due_at })),
    answers: answers.map((ask) => ({
      ask_id: ask.id,
      from: name(ask.to_developer_id),
      answer: short(ask.answer ?? ''),
      answered_at: ask.answered_at ?? now,
    })),
    handoffs: handoffs.map(({ id, from_developer_id, message, context_id }) => ({
      handoff_id: id,
      from: name(from_developer_id),
      message: short(message),
      context_id,
    })),
  };
}

/**
 * Returns the answers that this session may receive. If another active session of the same agent sent an ask, only that session gets the
 * answer. If the session that asked has ended or gone silent, the agent's next session gets it.
 */
export async function answersFor(db: Db, workspace: string, rows: readonly AskRow[], sessionId: string | null, now: number): Promise<AskRow[]> {
  const others = rows.flatMap(({ session_id }) => (session_id === null || session_id === sessionId ? [] : [session_id]));
  const elsewhere = await activeSessions(db, workspace, others, now);
  return rows.filter(({ session_id }) => session_id === null || session_id === sessionId || !elsewhere.has(session_id));
}

/** Must be called whenever a reply includes the result of `waitingFor`. */
export async function markDelivered(tx: Tx, ctx: WriteContext, { waiting, answers }: Pick<Waiting, 'waiting' | 'answers'>): Promise<void> {
  for (const { ask_id } of waiting) {
    if ((await findAsk(tx.db, tx.workspace, ask_id))?.delivered_at !== null) continue;
    await changeRows(tx.db, 'asks', { workspace_id: tx.workspace, id: ask_id }, { delivered_at: tx.now });
    record(tx, ctx, { category: 'work', kind: 'ask.delivered', subject: ask_id, payload: { ask_id } });
  }
  for (const { ask_id } of answers) {
    if ((await findAsk(tx.db, tx.workspace, ask_id))?.answer_delivered_at !== null) continue;
    await changeRows(tx.db, 'asks', { workspace_id: tx.workspace, id: ask_id }, { answer_delivered_at: tx.now });
    record(tx, ctx, { category: 'work', kind: 'ask.answer_delivered', subject: ask_id, payload: { ask_id } });
  }
}

export interface HeartbeatNews {
  renewed_claims: number;
  waiting: Waiting['waiting'];
  answers?: Waiting['answers'];
  handoffs?: Waiting['handoffs'];
}

/** Runs with every heartbeat of an agent. Renews its claims and delivers asks and answers. */
export async function heartbeatListener(tx: Tx, ctx: WriteContext, beat: { sessionId: string | null }): Promise<HeartbeatNews> {
  const renewed_claims = await renewClaims(tx, ctx, beat.sessionId);
  const { waiting, answers, handoffs } = await waitingFor(tx.db, tx.workspace, ctx.principal, tx.now, beat.sessionId);
  await markDelivered(tx, ctx, { waiting, answers });
  return { renewed_claims, waiting, ...(answers.length > 0 ? { answers } : {}), ...(handoffs.length > 0 ? { handoffs } : {}) };
}
