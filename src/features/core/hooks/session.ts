import { CLIENT_NAMES } from '../../../clients/client.ts';
import type { CallContext, WriteContext } from '../../../kernel/call.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type AgentSessionRow, findSession, finishSession, type SessionParts, STALE_AFTER_MS } from '../../team/sessions/index.ts';
import type { RunQuestion } from './contract.ts';
import { runsOfOthersIn } from './store.ts';

/** Functions to call when a hook reports a snapshot or the end of a session. They are the same as for reports of the agents themselves. */
export type SessionListeners = Pick<SessionParts, 'snapshot' | 'end'>;

/**
 * Returns the session that a call named, if it is open and belongs to this agent. The session of another token of the same
 * developer counts only if this run started it. Some agents use one token for their tools and another one for their hooks, but
 * the other token may also belong to another agent.
 */
export async function findNamedSession(
  { reader, workspace, principal, clock }: CallContext,
  { session_id, session_started, client }: RunQuestion,
): Promise<AgentSessionRow | undefined> {
  const session = session_id === undefined ? undefined : await findSession(reader, workspace, session_id);
  if (session?.developer_id !== principal.developerId || session.ended_at !== null) return undefined;
  if (session.token_id !== principal.tokenId && !session_started) return undefined;
  const sessionAgent = session.agent_type?.toLowerCase();
  // If several agents share one token, the server can distinguish them only by the agent type that they report.
  const isAnothers = sessionAgent !== (principal.agentType ?? client) && CLIENT_NAMES.some((type) => type === sessionAgent);
  if (isAnothers) return undefined;
  const [otherRun] = await runsOfOthersIn(reader, workspace, session.id, principal.actor, clock.now() - STALE_AFTER_MS);
  return otherRun ? undefined : session;
}

/** Ends the session as if the agent had ended it, unless another run works in it. Returns the number of released claims. */
export async function endSession(
  tx: Tx,
  ctx: WriteContext,
  sessionId: string,
  others: readonly ClientRunRow[],
  listeners: NonNullable<SessionListeners['end']>,
): Promise<number> {
  const session = await findSession(tx.db, tx.workspace, sessionId);
  if (session?.ended_at !== null || others.some((run) => run.session_id === sessionId)) return 0;
  const [otherRun] = await runsOfOthersIn(tx.db, tx.workspace, sessionId, ctx.principal.actor, tx.now - STALE_AFTER_MS);
  if (otherRun) return 0;
  return (await finishSession(tx, { ...ctx, session: sessionId }, sessionId, listeners)).released_claims ?? 0;
}
