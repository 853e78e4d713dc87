import { sql } from 'kysely';
import type { Db } from '../../../storage/engine.ts';
import { type JournalEvent, toEvent } from '../../../storage/journal.ts';
import { matching } from '../../../storage/rows.ts';
import type { AgentRow } from '../../workflow/agents/index.ts';

/** So many of each: who has more at work than these looks at the pages of the work itself. */
const MAX_ITEMS = 1_000;
const MAX_SESSIONS = 500;

/** `companion_version`: of the companion that reports of its machine with this token. */
const tokens = (db: Db, workspace: string) =>
  db
    .selectFrom('tokens')
    .leftJoin('machines', (join) => join.onRef('machines.workspace_id', '=', 'tokens.workspace_id').onRef('machines.token_id', '=', 'tokens.id'))
    .select(['id', 'kind', 'tokens.developer_id', 'agent_type', 'instance_id', 'label', 'last_used_at', 'revoked_at', 'expires_at', 'companion_version'])
    .where('tokens.workspace_id', '=', workspace);

/** Tokens that agents carry. Those of instances come with their instance. */
export async function agentTokens(db: Db, workspace: string) {
  return await tokens(db, workspace).where('kind', '=', sql.lit('agent')).orderBy('id', 'desc').limit(MAX_ITEMS).execute();
}
export type RosterToken = Awaited<ReturnType<typeof agentTokens>>[number];

export async function tokensById(db: Db, workspace: string, ids: readonly string[]): Promise<Map<string, RosterToken>> {
  return ids.length === 0
    ? new Map()
    : byId(
        await tokens(db, workspace)
          .where('id', 'in', [...new Set(ids)])
          .execute(),
      );
}

/** Sessions that were heard of since then, the last one first. Those that nobody ended are ended after a week. */
export async function sessionsSince(db: Db, workspace: string, since: number) {
  return await db
    .selectFrom('agent_sessions')
    .select(['id', 'token_id', 'developer_id', 'agent_type', 'model', 'repo', 'branch', 'started_at', 'last_seen_at', 'ended_at'])
    .where('workspace_id', '=', workspace)
    .where('last_seen_at', '>=', since)
    .orderBy('last_seen_at', 'desc')
    .limit(MAX_SESSIONS)
    .execute();
}
export type SessionFacts = Awaited<ReturnType<typeof sessionsSince>>[number];

/** Registered agents that are not offline, and the latest that are. */
export async function registeredAgents(db: Db, workspace: string) {
  const of = (status: AgentRow['status'], limit: number) =>
    db.selectFrom('agents').selectAll().where('workspace_id', '=', workspace).where('status', '=', status).orderBy('id', 'desc').limit(limit).execute();
  // One status at a time, as the index has them.
  return [...(await of('online', MAX_ITEMS)), ...(await of('busy', MAX_ITEMS)), ...(await of('offline', MAX_SESSIONS))];
}

/** Steps that somebody has claimed. */
export async function stepsHeld(db: Db, workspace: string) {
  return await db
    .selectFrom('workflow_tasks')
    .select(['id', 'name', 'workflow_id', 'status', 'assigned_agent_id', 'claimed_at', 'fence', 'question_id'])
    .where('workspace_id', '=', workspace)
    .where('assigned_agent_id', 'is not', null)
    .limit(MAX_ITEMS)
    .execute();
}

export async function tasksAtWork(db: Db, workspace: string) {
  return await db
    .selectFrom('tasks')
    .select(['id', 'title', 'actor', 'status', 'started_at', 'updated_at'])
    .where('workspace_id', '=', workspace)
    .where('status', 'in', ['active', 'blocked'])
    .where('closed_at', 'is', null)
    .orderBy('updated_at', 'desc')
    .limit(MAX_ITEMS)
    .execute();
}

const liveClaims = (db: Db, workspace: string, now: number) =>
  db
    .selectFrom('claims')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('released_at', 'is', null)
    .where('expired_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('id');

export async function claimsLive(db: Db, workspace: string, now: number) {
  return await liveClaims(db, workspace, now).limit(MAX_ITEMS).execute();
}

/** All of them, for who gives them back: one that is left out would stay held. */
export async function claimsHeldBy(db: Db, workspace: string, actor: string, now: number) {
  return await liveClaims(db, workspace, now).where('actor', '=', actor).execute();
}

/** All that have claimed a step: one that is left out would keep it. */
export async function agentsWithSteps(db: Db, workspace: string, actor: string): Promise<AgentRow[]> {
  const holders = db.selectFrom('workflow_tasks').select('assigned_agent_id').where('workspace_id', '=', workspace).where('assigned_agent_id', 'is not', null);
  const own = db.selectFrom('agents').selectAll().where('workspace_id', '=', workspace).where('actor', '=', actor);
  return await own.where('id', 'in', holders).orderBy('id', 'desc').execute();
}

/** Turns in cycles, each with the open sessions of whoever has the role. */
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

/** Those that are not over, and those that ended since then. */
export async function instancesSince(db: Db, workspace: string, since: number) {
  const instances = db
    .selectFrom('instances')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where((eb) => eb.or([eb('step', 'is', null), eb('step', 'not in', ['worktree', 'session'])]));
  // Each by its index, and sorted here: in their order, all that ever ran would be looked at.
  const running = await instances.where('ended_at', 'is', null).execute();
  const ended = await instances.where('ended_at', '>=', since).orderBy('ended_at', 'desc').limit(MAX_SESSIONS).execute();
  return [...running, ...ended].toSorted((a, b) => b.created_at - a.created_at).slice(0, MAX_SESSIONS);
}

const byId = <R extends { readonly id: string }>(rows: readonly R[]): Map<string, R> => new Map(rows.map((row) => [row.id, row]));

/** For whom each of these instances works. */
export async function ownersOfInstances(db: Db, workspace: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>();
  return byId(
    await matching(db, 'instances', { workspace_id: workspace, id: [...new Set(ids)] })
      .select(['id', 'developer_id'])
      .execute(),
  );
}

/** What these steps are called, and of which workflow they are. */
export async function stepsNamed(db: Db, workspace: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>();
  return byId(
    await matching(db, 'workflow_tasks', { workspace_id: workspace, id: [...new Set(ids)] })
      .select(['id', 'name', 'workflow_id'])
      .execute(),
  );
}

export async function workflowsNamed(db: Db, workspace: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>();
  return byId(
    await matching(db, 'workflows', { workspace_id: workspace, id: [...new Set(ids)] })
      .select(['id', 'name'])
      .execute(),
  );
}

/** Who waits for a person's word on a call. */
export async function actorsHeld(db: Db, workspace: string, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('approvals')
    .select('actor')
    .distinct()
    .where('workspace_id', '=', workspace)
    .where('status', '=', 'waiting')
    .where('deadline_at', '>', now)
    .execute();
  return rows.map(({ actor }) => actor);
}

/** Registered agents that asked people something. */
export async function agentsAsking(db: Db, workspace: string, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('sender_id')
    .distinct()
    .where('workspace_id', '=', workspace)
    .where('recipient_id', '=', 'human')
    .where('status', '=', 'unread')
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
  const rows = await db
    .selectFrom('agent_spans')
    .select(({ fn }) => [
      'developer_id',
      'agent_type',
      fn.countAll().as('spans'),
      fn.count('cost_micros').as('priced'),
      sql<number | null>`sum(cast(cost_micros as double precision))`.as('micros'),
    ])
    .where('workspace_id', '=', workspace)
    .where('ingested_at', '>=', since)
    .groupBy(['developer_id', 'agent_type'])
    .execute();
  return rows.map((row) => ({ ...row, spans: Number(row.spans), priced: Number(row.priced), micros: Number(row.micros) }));
}

export async function eventsAt(db: Db, workspace: string, seqs: readonly number[]): Promise<JournalEvent[]> {
  const rows = await db.selectFrom('events').selectAll().where('workspace_id', '=', workspace).where('seq', 'in', seqs).execute();
  return rows.map(toEvent);
}

const WORKTREES_SHOWN = 10;

/** Working trees that these sessions reported, the latest first. */
export async function worktreesOf(db: Db, workspace: string, developerId: string, sessionIds: readonly string[]) {
  if (sessionIds.length === 0) return [];
  return await db
    .selectFrom('local_worktrees')
    .select(['repo', 'branch', 'worktree', 'head', 'dirty_files', 'unpushed_files', 'updated_at'])
    .where('workspace_id', '=', workspace)
    .where('developer_id', '=', developerId)
    .where('session_id', 'in', sessionIds)
    .orderBy('updated_at', 'desc')
    .limit(WORKTREES_SHOWN)
    .execute();
}
