import { sql } from 'kysely';
import type { Output } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRows, hasRow, matching } from '../../../storage/rows.ts';
import type { AgentRow } from '../../workflow/agents/index.ts';
import type { firstSteps } from './contract.ts';

/** The maximum number of rows of each kind. People can see all of them on the pages for tasks, workflows and claims. */
const MAX_ITEMS = 1_000;
const MAX_SESSIONS = 500;

/** `companion_version`: the version of the companion that reports its machine with this token. */
const tokensWithCompanion = (db: Db, workspace: string) =>
  db
    .selectFrom('tokens')
    .leftJoin('machines', (join) => join.onRef('machines.workspace_id', '=', 'tokens.workspace_id').onRef('machines.token_id', '=', 'tokens.id'))
    .select(['id', 'kind', 'tokens.developer_id', 'agent_type', 'instance_id', 'label', 'last_used_at', 'revoked_at', 'expires_at', 'companion_version'])
    .where('tokens.workspace_id', '=', workspace);

/** Returns the tokens of agents, excluding the tokens of instances, which are read together with the instances. */
export async function agentTokens(db: Db, workspace: string) {
  return await tokensWithCompanion(db, workspace).where('kind', '=', sql.lit('agent')).orderBy('id', 'desc').limit(MAX_ITEMS).execute();
}
export type RosterToken = Awaited<ReturnType<typeof agentTokens>>[number];

export async function tokensById(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, RosterToken>> {
  if (ids.length === 0) return new Map();
  const distinct = [...new Set(ids)];
  const rows = await tokensWithCompanion(db, workspace).where('id', 'in', distinct).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the sessions that were seen since the given time, last seen first. Abandoned sessions end after a week. */
export const sessionsSince = (db: Db, workspace: string, since: number) =>
  findRows(db, 'agent_sessions', { workspace_id: workspace, last_seen_at: { '>=': since } }, { order: { last_seen_at: 'desc' }, limit: MAX_SESSIONS });

/** Returns the registered agents that are not offline, and the latest of the offline agents. */
export async function registeredAgents(db: Db, workspace: string) {
  const of = (status: AgentRow['status'], limit: number) => findRows(db, 'agents', { workspace_id: workspace, status }, { order: { id: 'desc' }, limit });
  // Reads one status at a time, so that the query can use the index.
  return [...(await of('online', MAX_ITEMS)), ...(await of('busy', MAX_ITEMS)), ...(await of('offline', MAX_SESSIONS))];
}

export const stepsHeld = (db: Db, workspace: string) =>
  matching(db, 'workflow_tasks', { workspace_id: workspace, assigned_agent_id: { '!=': null } })
    .select(['id', 'name', 'workflow_id', 'status', 'assigned_agent_id', 'claimed_at', 'fence', 'question_id'])
    .limit(MAX_ITEMS)
    .execute();

export const tasksAtWork = (db: Db, workspace: string) =>
  matching(db, 'tasks', { workspace_id: workspace, status: ['active', 'blocked'], closed_at: null })
    .select(['id', 'title', 'actor', 'status', 'started_at', 'updated_at'])
    .orderBy('updated_at', 'desc')
    .limit(MAX_ITEMS)
    .execute();

/** If `actor` is given, returns all of its claims, because a release must not miss any. */
export const claimsLive = (db: Db, workspace: string, now: number, actor?: string) =>
  findRows(
    db,
    'claims',
    { workspace_id: workspace, released_at: null, expired_at: null, expires_at: { '>': now }, actor },
    { order: { id: 'asc' }, limit: actor === undefined ? MAX_ITEMS : undefined },
  );

/** All agents of the actor that have claimed a step, because a release must not miss any. */
export async function agentsWithSteps(db: Db, workspace: string, actor: string): Promise<AgentRow[]> {
  const holders = matching(db, 'workflow_tasks', { workspace_id: workspace, assigned_agent_id: { '!=': null } }).select('assigned_agent_id');
  return await matching(db, 'agents', { workspace_id: workspace, actor }).selectAll().where('id', 'in', holders).orderBy('id', 'desc').execute();
}

/** Returns the active cycles, each with the role that has its turn and the open sessions of that role. */
export async function locksHeld(db: Db, workspace: string, now: number) {
  return await db
    .selectFrom('cycles')
    .innerJoin('role_sessions', (join) =>
      join
        .onRef('role_sessions.workspace_id', '=', 'cycles.workspace_id')
        .onRef('role_sessions.repository', '=', 'cycles.repository')
        .onRef('role_sessions.role', '=', 'cycles.lock_role'),
    )
    .select(['cycles.id', 'cycles.feature', 'cycles.lock_role', 'cycles.lock_acquired_at', 'role_sessions.actor', 'role_sessions.expires_at'])
    .where('cycles.workspace_id', '=', workspace)
    .where('cycles.status', '=', 'active')
    .where('role_sessions.closed_at', 'is', null)
    .where('role_sessions.expires_at', '>', now)
    .limit(MAX_ITEMS)
    .execute();
}

/** Returns running instances, and instances that ended since the given time. */
export async function instancesSince(db: Db, workspace: string, since: number) {
  const instances = matching(db, 'instances', { workspace_id: workspace })
    .selectAll()
    .where((eb) => eb.or([eb('step', 'is', null), eb('step', 'not in', ['worktree', 'session'])]));
  // These are two queries that use an index, and their results are sorted here. A single ordered query would read every instance that ever ran.
  const running = await instances.where('ended_at', 'is', null).execute();
  const ended = await instances.where('ended_at', '>=', since).orderBy('ended_at', 'desc').limit(MAX_SESSIONS).execute();
  return [...running, ...ended].toSorted((a, b) => b.created_at - a.created_at).slice(0, MAX_SESSIONS);
}

/** Returns the actors with a call that waits for approval. */
export async function actorsAwaitingApproval(db: Db, workspace: string, now: number): Promise<string[]> {
  const rows = await matching(db, 'approvals', { workspace_id: workspace, status: 'waiting', deadline_at: { '>': now } })
    .select('actor')
    .distinct()
    .execute();
  return rows.map(({ actor }) => actor);
}

/** Returns the ids of registered agents with an open question to people. */
export async function agentsAsking(db: Db, workspace: string, now: number): Promise<string[]> {
  const rows = await matching(db, 'messages', { workspace_id: workspace, recipient_id: 'human', status: 'unread' })
    .select('sender_id')
    .distinct()
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .execute();
  return rows.map(({ sender_id }) => sender_id);
}

export interface CostSum {
  readonly developer_id: string;
  readonly agent_type: string | null;
  readonly spans: number;
  readonly priced: number;
  readonly micros: number;
}

export async function costsSince(db: Db, workspace: string, since: number): Promise<CostSum[]> {
  const rows = await matching(db, 'agent_spans', { workspace_id: workspace, ingested_at: { '>=': since } })
    .select(({ fn }) => [
      'developer_id',
      'agent_type',
      fn.countAll().as('spans'),
      fn.count('cost_micros').as('priced'),
      sql<number | null>`sum(cast(cost_micros as double precision))`.as('micros'),
    ])
    .groupBy(['developer_id', 'agent_type'])
    .execute();
  return rows.map((row) => ({ ...row, spans: Number(row.spans), priced: Number(row.priced), micros: Number(row.micros) }));
}

/** Progress of a new team. Each query is one index lookup. */
export async function readFirstSteps(db: Db, workspace: string): Promise<Output<typeof firstSteps>> {
  const agents = { workspace_id: workspace, kind: 'agent' } as const;
  const warning = await db
    .selectFrom('overlap_warnings')
    .select('id')
    .where('workspace_id', '=', workspace)
    .where('level', '=', sql.lit('escalated'))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return {
    connected: await hasRow(db, 'tokens', agents),
    called: await hasRow(db, 'tokens', { ...agents, last_used_at: { '!=': null } }),
    warning_id: warning?.id ?? null,
    finished: await hasRow(db, 'tasks', { workspace_id: workspace, status: 'completed' }),
  };
}
