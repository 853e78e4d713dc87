import type { Principal } from '../../kernel/context.ts';
import { record, type WriteContext } from '../../kernel/context.ts';
import type { Db } from '../../storage/engine.ts';
import type { Tx } from '../../storage/write.ts';
import { namesFor } from '../identity/index.ts';
import { markClaimed } from './claims.ts';
import { excerpt } from './excerpt.ts';
import { isUndelivered } from './receipts.ts';
import { asksTo, findAsk, freshAnswers, handoffsTo, liveClaimRows, updateAsk, updateClaim } from './store.ts';
import type { ClaimRow } from './tables.ts';
import type { Waiting } from './views.ts';

/** An answer that carries them must not grow with them: `list` has the rest, and the whole texts. */
const MOST = 10;
const CONSIDERED = 100;
const EXCERPT_BYTES = 500;

/** Asks, answers and handoffs for this very agent. */
export async function waitingFor(db: Db, workspace: string, principal: Principal, now: number): Promise<Waiting> {
  const { developerId, agentType, actor } = principal;
  if (!developerId) return { waiting: [], answers: [], handoffs: [] };
  const open = await asksTo(db, workspace, developerId, agentType, now, CONSIDERED);
  // What was never delivered goes first, or ten asks left unanswered would keep all others back.
  const asks = open.toSorted((a, b) => Number(isUndelivered(b)) - Number(isUndelivered(a))).slice(0, MOST);
  const answers = await freshAnswers(db, workspace, developerId, actor, MOST);
  const handoffs = await handoffsTo(db, workspace, developerId, agentType, MOST);
  if (asks.length + answers.length + handoffs.length === 0) return { waiting: [], answers: [], handoffs: [] };
  const name = await namesFor(db, workspace, principal);
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

/** To be called where an answer carries what `waitingFor` gave. */
export async function markDelivered(tx: Tx, ctx: WriteContext, { waiting, answers }: Pick<Waiting, 'waiting' | 'answers'>): Promise<void> {
  for (const { ask_id } of waiting) {
    if ((await findAsk(tx.db, tx.workspace, ask_id))?.delivered_at !== null) continue;
    await updateAsk(tx.db, tx.workspace, ask_id, { delivered_at: tx.now });
    record(tx, ctx, { category: 'work', kind: 'ask.delivered', subject: ask_id, payload: { ask_id } });
  }
  for (const { ask_id } of answers) {
    if ((await findAsk(tx.db, tx.workspace, ask_id))?.answer_delivered_at !== null) continue;
    await updateAsk(tx.db, tx.workspace, ask_id, { answer_delivered_at: tx.now });
    record(tx, ctx, { category: 'work', kind: 'ask.answer_delivered', subject: ask_id, payload: { ask_id } });
  }
}

/**
 * A sign of life renews the claims of its session, and those that the same agent made without naming one; a machine's, without
 * a session, only the latter. A lease that has ended stays ended: somebody else may have claimed the code since.
 */
async function renewClaims(tx: Tx, ctx: WriteContext, sessionId: string | null): Promise<number> {
  const { developerId, actor } = ctx.principal;
  if (!developerId) return 0;
  const isHolder = (row: ClaimRow) => (row.session_id === null ? row.actor === actor : row.session_id === sessionId);
  const own = (await liveClaimRows(tx.db, tx.workspace, tx.now, developerId)).filter(isHolder);
  for (const row of own) {
    const expires_at = tx.now + row.ttl_minutes * 60_000;
    if (expires_at <= row.expires_at) continue;
    await updateClaim(tx.db, tx.workspace, row.id, { expires_at });
    await markClaimed(tx, { ...row, expires_at });
  }
  return own.length;
}

export interface Heard {
  renewed_claims: number;
  waiting: Waiting['waiting'];
  answers?: Waiting['answers'];
  handoffs?: Waiting['handoffs'];
}

/** With every start and heartbeat of a session. */
export async function heartbeatListener(tx: Tx, ctx: WriteContext, beat: { sessionId: string | null }): Promise<Heard> {
  const renewed_claims = await renewClaims(tx, ctx, beat.sessionId);
  const { waiting, answers, handoffs } = await waitingFor(tx.db, tx.workspace, ctx.principal, tx.now);
  await markDelivered(tx, ctx, { waiting, answers });
  return { renewed_claims, waiting, ...(answers.length > 0 ? { answers } : {}), ...(handoffs.length > 0 ? { handoffs } : {}) };
}
