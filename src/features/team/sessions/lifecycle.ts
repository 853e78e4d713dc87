import { type CallerPlace, record, type Services, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import type { Ports } from '../../../kernel/ports.ts';
import { notFound, type Refusal } from '../../../kernel/reply.ts';
import { sameRepo } from '../../../kernel/repo.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import type { Db } from '../../../storage/engine.ts';
import { compiledQuery, insertRows, newId } from '../../../storage/rows.ts';
import type { AgentSessionRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import type { startSession } from './contract.ts';
import { changeActiveSession, touchActiveSession } from './store.ts';

export async function beginSession(tx: Tx, ctx: WriteContext, input: Input<typeof startSession>): Promise<AgentSessionRow> {
  const typed = ctx.principal.agentType;
  const session: AgentSessionRow = {
    workspace_id: tx.workspace,
    id: newId('ses', tx.now),
    developer_id: callingDeveloper(ctx.principal),
    token_id: ctx.principal.tokenId,
    agent_type: typed ?? input.agent_type ?? null,
    agent_name: input.agent_name ?? null,
    provider: input.provider ?? null,
    model: input.model ?? null,
    ...placeOf(input, ctx.place),
    started_at: tx.now,
    last_seen_at: tx.now,
    ended_at: null,
  };
  await insertRows(tx.db, 'agent_sessions', session);
  const { id, agent_type, provider, model, repo, branch } = session;
  const event = { category: 'work', subject: id, session: id } as const;
  record(tx, ctx, { ...event, kind: 'session.started', payload: { agent_type, provider, model, repo, branch } });
  if (typed && input.agent_type && input.agent_type.toLowerCase() !== typed.toLowerCase()) {
    record(tx, ctx, { ...event, kind: 'session.agent_mismatch', payload: { reported: input.agent_type, token: typed } });
  }
  return session;
}

/** If the call does not contain a repository or branch, the client's report is used. The reported branch is used only for the reported repository. */
function placeOf({ repo, branch }: Input<typeof startSession>, place: CallerPlace | null): Pick<AgentSessionRow, 'repo' | 'branch'> {
  const isThere = repo === undefined || sameRepo(repo, place?.repo ?? '');
  return { repo: repo ?? place?.repo ?? null, branch: branch ?? (isThere ? (place?.branch ?? null) : null) };
}

/** The fields that listeners add to the reply to an end. */
interface EndReport {
  released_claims?: number;
}

/** Runs when a session ends and releases what the session held. Its result becomes part of the reply. */
export type EndListener = (tx: Tx, ctx: WriteContext, sessionId: string) => Promise<EndReport>;

/** Ends a session. Callers must first check that it has not already ended. */
export async function finishSession(tx: Tx, ctx: WriteContext, sessionId: string, listeners: readonly EndListener[]): Promise<EndReport> {
  await changeActiveSession(tx, sessionId, { ended_at: tx.now });
  record(tx, ctx, { category: 'work', kind: 'session.ended', subject: sessionId });
  const ended: EndReport = {};
  for (const listener of listeners) Object.assign(ended, await listener(tx, ctx, sessionId));
  return ended;
}

/** After this time without a sign of life, a session is ended, because its agent does not return. Until then it is listed as stale. */
const LOST_AFTER_MS = 7 * 24 * 3_600_000;

/** Ends abandoned sessions, because they would otherwise be listed as stale forever. Their claims have expired long before. */
export const lostSessionSweep = (services: Pick<Services, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(services, {
    name: 'sessions',
    everyMs: 3_600_000,
    atOnce: 200,
    find: (db, now, limit) => lostSessions(db, now).select(['workspace_id', 'id']).orderBy('last_seen_at').limit(limit).execute(),
    settle: async (tx, { workspace_id, id }) => {
      const lost = await lostSessions(tx.db, tx.now).select('id').where('workspace_id', '=', workspace_id).where('id', '=', id).executeTakeFirst();
      if (!lost) return;
      await changeActiveSession(tx, id, { ended_at: tx.now });
      tx.append({ category: 'work', kind: 'session.ended', actor: 'server', subject: id, session: id, payload: { automatic: true } });
    },
  });

const lostSessions = (db: Db, now: number) =>
  db
    .selectFrom('agent_sessions')
    .where('ended_at', 'is', null)
    .where('last_seen_at', '<', now - LOST_AFTER_MS);

const ownerOf = compiledQuery(2, (db, workspace: string, sessionId: string) =>
  db.selectFrom('agent_sessions').select('developer_id').where('workspace_id', '=', workspace).where('id', '=', sessionId),
);

/** Somebody else's session gets the same message as a missing one, so that nobody can probe for ids. */
export const sessionNotFound = (sessionId: string): Refusal =>
  notFound(
    'SESSION_NOT_FOUND',
    `Session ${JSON.stringify(sessionId)} does not exist or is not yours.`,
    'Use the session_id that covibe_session returned for operation "start", or call it again to start a session.',
    'session_id',
  );

/** The session functions that the dispatcher uses. They may read outside the transaction, because the owner of a session never changes. */
export function createSessionPorts({ store }: Services): Pick<Ports, 'enterSession' | 'touchSession'> {
  return {
    async enterSession(principal, sessionId) {
      const [session] = await ownerOf(store.reader, principal.workspace, sessionId);
      if (!session || session.developer_id !== principal.developerId) throw sessionNotFound(sessionId);
    },
    touchSession: touchActiveSession,
  };
}
