import type { CallContext, WriteContext } from '../../../kernel/context.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type AgentSessionRow, findSession, finishSession, STALE_AFTER_MS } from '../../team/sessions/index.ts';
import { AGENT_TYPES } from '../identity/index.ts';
import type { Question, SessionListeners } from './standing.ts';
import { runsOfOthersIn } from './store.ts';

/**
 * The session that a call named, if it is this very agent's and has not ended. Another token of the same developer's may be another agent's,
 * so that its sessions are ours only where a start of this run was answered with them: agents connect by another token than their hooks have.
 */
export async function ownSession(
  { reader, workspace, principal, clock }: CallContext,
  { session_id, session_started, client }: Question,
): Promise<AgentSessionRow | undefined> {
  const session = session_id === undefined ? undefined : await findSession(reader, workspace, session_id);
  if (session?.developer_id !== principal.developerId || session.ended_at !== null) return undefined;
  if (session.token_id !== principal.tokenId && !session_started) return undefined;
  const said = session.agent_type?.toLowerCase();
  // Where one token serves several agents, only what each said of itself tells them apart.
  const isAnothers = said !== (principal.agentType ?? client) && AGENT_TYPES.some((type) => type === said);
  if (isAnothers) return undefined;
  const [theirs] = await runsOfOthersIn(reader, workspace, session.id, principal.actor, clock.now() - STALE_AFTER_MS);
  return theirs ? undefined : session;
}

/** As the agent itself would end it; how many claims were released. One that another run works in goes on. */
export async function endSession(
  tx: Tx,
  ctx: WriteContext,
  sessionId: string,
  others: readonly ClientRunRow[],
  listeners: NonNullable<SessionListeners['end']>,
): Promise<number> {
  const session = await findSession(tx.db, tx.workspace, sessionId);
  if (session?.ended_at !== null || others.some((run) => run.session_id === sessionId)) return 0;
  const [theirs] = await runsOfOthersIn(tx.db, tx.workspace, sessionId, ctx.principal.actor, tx.now - STALE_AFTER_MS);
  if (theirs) return 0;
  return (await finishSession(tx, { ...ctx, session: sessionId }, sessionId, listeners)).released_claims ?? 0;
}
