import { CLIENT_NAMES } from '../../../clients/client.ts';
import type { CallContext, Principal, WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type ClaimRow, renewClaims } from '../../team/coordination/index.ts';
import { type AgentSessionRow, findSession, finishSession, type SessionParts, STALE_AFTER_MS, touchActiveSession } from '../../team/sessions/index.ts';
import { type AgentRow, agentsActingAs } from '../../workflow/agents/index.ts';
import { callingDeveloper } from '../identity/index.ts';
import type { hear } from './contract.ts';
import type { HookRights } from './rights.ts';
import { runsOf, runsOfOthersIn, saveRun } from './store.ts';
import { NOTHING_FOUND } from './working-tree.ts';

export type HookCaller = Pick<CallContext, 'workspace' | 'principal'>;
export type RunQuestion = Input<typeof hear>;
/** Who is told of snapshots and of the ends of sessions, as where agents report these themselves. */
export type SessionListeners = Pick<SessionParts, 'snapshot' | 'end'>;

/** Who asks: which run of which agent. */
export interface HookContext {
  /** Undefined where the client does not say which run it is. */
  readonly run: ClientRunRow | undefined;
  /** Runs of the same agent that are at work elsewhere; where it is not known which run this is, none is known to be another. */
  readonly others: readonly ClientRunRow[];
  /** One that has not ended: the run's, or where it has none that which the call named. */
  readonly sessionId: string | null;
  readonly rights: HookRights;
  /** What has changed for the agent without its doing. */
  readonly told?: string | undefined;
}

/** A hook is heard before and after every tool: it counts as a sign of life no more often than this, also by a clock that was put back. */
const LIFE_MS = 20_000;

/** What is known of the run, with a sign of life where one is due: all that is written for most of what is asked. */
export async function hookContextOf(ctx: CallContext, question: RunQuestion, rights: HookRights, { end = [] }: SessionListeners): Promise<HookContext> {
  const named = await ownSession(ctx, question);
  const { client_session, client, event, person } = question;
  if (client_session === undefined || person) return { run: undefined, others: [], sessionId: named?.id ?? null, rights };
  // Not before: a call that ends a session names it too.
  const bound = event === 'after-tool' ? named : undefined;
  const now = ctx.clock.now();
  const found = await runsAround(ctx.reader, ctx, client_session, now);
  const { run } = found;
  const isDue =
    run === undefined || run.ended_at !== null || Math.abs(now - run.last_seen_at) >= LIFE_MS || (bound !== undefined && bound.id !== run.session_id);
  // Git is no run of an agent, and what ends is not to be begun.
  const isNone = event === 'session-end' || (client === 'git' && run === undefined);
  if (!isDue || isNone) return { ...found, sessionId: run?.session_id ?? named?.id ?? null, rights };
  return await ctx.write((tx) => signOfLife(tx, ctx, { ...question, client_session }, rights, bound, end));
}

/** The run as it stands in this transaction. */
export async function runsAround(
  db: Db,
  { workspace, principal }: HookCaller,
  clientSession: string,
  now: number,
): Promise<Pick<HookContext, 'run' | 'others'>> {
  const runs = await runsOf(db, workspace, principal.actor, clientSession, now - STALE_AFTER_MS);
  return { run: runs.find((run) => run.client_session === clientSession), others: runs.filter((run) => run.client_session !== clientSession) };
}

async function signOfLife(
  tx: Tx,
  ctx: CallContext,
  question: RunQuestion & { client_session: string },
  rights: HookRights,
  bound: AgentSessionRow | undefined,
  listeners: NonNullable<SessionListeners['end']>,
): Promise<HookContext> {
  const { run: before, others } = await runsAround(tx.db, ctx, question.client_session, tx.now);
  const known = before ?? newRun(tx, ctx.principal, question);
  const isBound = bound !== undefined && bound.id !== known.session_id;
  const run: ClientRunRow = { ...known, ...(isBound ? { session_id: bound.id, automatic: 0 } : {}), last_seen_at: tx.now, ended_at: null };
  const left = isBound && known.automatic === 1 ? known.session_id : null;
  const released = left === null ? 0 : await endSession(tx, ctx, left, others, listeners);
  await saveRun(tx, run);
  // Whatever the rights: it is the agent's own, and takes nothing from anybody.
  if (run.session_id !== null) await touchActiveSession(tx, run.session_id);
  await renewClaims(tx, { ...ctx, session: run.session_id }, run.session_id);
  const told =
    released > 0 && rights.sessions
      ? `This run is session ${run.session_id} now. Session ${left}, which had been started for it, has ended, and ${released} claim(s) made in it were released: claim again what you still need.`
      : undefined;
  return { run, others, sessionId: run.session_id, rights, told };
}

function newRun(tx: Tx, principal: Principal, { client, client_session, repo, folder }: RunQuestion & { client_session: string }): ClientRunRow {
  return {
    workspace_id: tx.workspace,
    actor: principal.actor,
    client_session,
    client,
    developer_id: callingDeveloper(principal),
    session_id: null,
    automatic: 0,
    repo: repo ?? null,
    folder: folder ?? null,
    compacted: 0,
    handoffs_told: null,
    told_at_stop: null,
    denials: '{}',
    found: NOTHING_FOUND,
    started_at: tx.now,
    last_seen_at: tx.now,
    ended_at: null,
  };
}

/** The agent is never in its own way: what it has claimed in this run, in none that is known, or in one that is over, is its own. */
export function ownClaims({ actor, developerId, instanceId }: Principal, { others, sessionId }: HookContext, person = false): (claim: ClaimRow) => boolean {
  const elsewhere = new Set(others.flatMap(({ session_id }) => session_id ?? []));
  return (claim) => {
    if (claim.developer_id === developerId && (person || (sessionId !== null && claim.session_id === sessionId))) return true;
    if (claim.actor !== actor) return false;
    // An instance is one agent, however often its program is started.
    return instanceId !== null || claim.session_id === null || !elsewhere.has(claim.session_id);
  };
}

/** An agent that registered longer ago, and was not heard of since, is no longer whoever runs now. */
const AGENT_RECENT_MS = 24 * 3_600_000;
const MAX_AGENTS = 20;

const isWithin = (path: string, { folder }: ClientRunRow): boolean =>
  folder !== null && (path === folder || (path.startsWith(folder) && /[\\/]/.test(path.charAt(folder.length))));

/** Agents of the workflow contract that this run may have registered, where it may be told of them: a registration does not say by which run, but often where it works. */
export async function ownAgents(db: Db, { workspace, principal }: HookCaller, { run, others, rights }: HookContext, now: number): Promise<AgentRow[]> {
  if (!rights.workflow) return [];
  const agents = await agentsActingAs(db, workspace, principal.actor, now - AGENT_RECENT_MS, MAX_AGENTS);
  const isElsewhere = ({ workspace_path: path }: AgentRow) =>
    path !== null && run !== undefined && !isWithin(path, run) && others.some((other) => isWithin(path, other));
  return agents.filter((agent) => !isElsewhere(agent));
}

/**
 * The session that a call named, if it is this very agent's and has not ended. Another token of the same developer's may be another agent's,
 * so that its sessions are ours only where a start of this run was answered with them: agents connect by another token than their hooks have.
 */
async function ownSession(
  { reader, workspace, principal, clock }: CallContext,
  { session_id, session_started, client }: RunQuestion,
): Promise<AgentSessionRow | undefined> {
  const session = session_id === undefined ? undefined : await findSession(reader, workspace, session_id);
  if (session?.developer_id !== principal.developerId || session.ended_at !== null) return undefined;
  if (session.token_id !== principal.tokenId && !session_started) return undefined;
  const said = session.agent_type?.toLowerCase();
  // Where one token serves several agents, only what each said of itself tells them apart.
  const isAnothers = said !== (principal.agentType ?? client) && CLIENT_NAMES.some((type) => type === said);
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
