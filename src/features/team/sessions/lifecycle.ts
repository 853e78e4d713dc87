import { type CallerPlace, record, type WriteContext } from '../../../kernel/context.ts';
import type { Input } from '../../../kernel/contract.ts';
import { newId } from '../../../kernel/ids.ts';
import { sameRepo } from '../../../kernel/repo.ts';
import type { AgentSessionRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper } from '../../core/identity/index.ts';
import type { startSession } from './contract.ts';
import { changeActiveSession, insertSession } from './store.ts';

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
    ...whereFor(input, ctx.place),
    started_at: tx.now,
    last_seen_at: tx.now,
    ended_at: null,
  };
  await insertSession(tx.db, session);
  const { id, agent_type, provider, model, repo, branch } = session;
  const event = { category: 'work', subject: id, session: id } as const;
  record(tx, ctx, { ...event, kind: 'session.started', payload: { agent_type, provider, model, repo, branch } });
  if (typed && input.agent_type && input.agent_type.toLowerCase() !== typed.toLowerCase()) {
    record(tx, ctx, { ...event, kind: 'session.agent_mismatch', payload: { reported: input.agent_type, token: typed } });
  }
  return session;
}

/** What the call leaves out is where its client stands; a branch only of the repository that is meant. */
function whereFor({ repo, branch }: Input<typeof startSession>, place: CallerPlace | null): Pick<AgentSessionRow, 'repo' | 'branch'> {
  const isThere = repo === undefined || sameRepo(repo, place?.repo ?? '');
  return { repo: repo ?? place?.repo ?? null, branch: branch ?? (isThere ? (place?.branch ?? null) : null) };
}

/** What those tell who were told of an end. */
interface Ended {
  released_claims?: number;
}

/** Gives back what the session held; what it tells stands in the answer. */
export type EndListener = (tx: Tx, ctx: WriteContext, sessionId: string) => Promise<Ended>;

/** Of one that has not ended. */
export async function finishSession(tx: Tx, ctx: WriteContext, sessionId: string, listeners: readonly EndListener[]): Promise<Ended> {
  await changeActiveSession(tx, sessionId, { ended_at: tx.now });
  record(tx, ctx, { category: 'work', kind: 'session.ended', subject: sessionId });
  const told: Ended = {};
  for (const listener of listeners) Object.assign(told, await listener(tx, ctx, sessionId));
  return told;
}
