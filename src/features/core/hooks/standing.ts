import type { CallContext, Principal } from '../../../kernel/context.ts';
import type { Input } from '../../../kernel/contract.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type ClaimRow, renewClaims } from '../../team/coordination/index.ts';
import { type AgentSessionRow, type SessionParts, STALE_AFTER_MS, touchActiveSession } from '../../team/sessions/index.ts';
import { callingDeveloper } from '../identity/index.ts';
import type { hear } from './contract.ts';
import { NOTHING_FOUND } from './found.ts';
import type { Rights } from './rights.ts';
import { endSession, ownSession } from './session.ts';
import { runsOf, saveRun } from './store.ts';

export type Question = Input<typeof hear>;
/** Who is told of snapshots and of the ends of sessions, as where agents report these themselves. */
export type SessionListeners = Pick<SessionParts, 'snapshot' | 'end'>;

/** Who asks: which run of which agent. */
export interface Standing {
  /** Undefined where the client does not say which run it is. */
  readonly run: ClientRunRow | undefined;
  /** Runs of the same agent that are at work elsewhere; where it is not known which run this is, none is known to be another. */
  readonly others: readonly ClientRunRow[];
  /** One that has not ended: the run's, or where it has none that which the call named. */
  readonly sessionId: string | null;
  readonly rights: Rights;
  /** What has changed for the agent without its doing. */
  readonly told?: string | undefined;
}

/** A hook is heard before and after every tool: it counts as a sign of life no more often than this, also by a clock that was put back. */
const LIFE_MS = 20_000;

/** What is known of the run, with a sign of life where one is due: all that is written for most of what is asked. */
export async function standingOf(ctx: CallContext, question: Question, rights: Rights, { end = [] }: SessionListeners): Promise<Standing> {
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
  { workspace, principal }: Pick<CallContext, 'workspace' | 'principal'>,
  clientSession: string,
  now: number,
): Promise<Pick<Standing, 'run' | 'others'>> {
  const runs = await runsOf(db, workspace, principal.actor, clientSession, now - STALE_AFTER_MS);
  return { run: runs.find((run) => run.client_session === clientSession), others: runs.filter((run) => run.client_session !== clientSession) };
}

async function signOfLife(
  tx: Tx,
  ctx: CallContext,
  question: Question & { client_session: string },
  rights: Rights,
  bound: AgentSessionRow | undefined,
  listeners: NonNullable<SessionListeners['end']>,
): Promise<Standing> {
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

function newRun(tx: Tx, principal: Principal, { client, client_session, repo, folder }: Question & { client_session: string }): ClientRunRow {
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
export function ownClaims({ actor, developerId, instanceId }: Principal, { others, sessionId }: Standing, person = false): (claim: ClaimRow) => boolean {
  const elsewhere = new Set(others.flatMap(({ session_id }) => session_id ?? []));
  return (claim) => {
    if (claim.developer_id === developerId && (person || (sessionId !== null && claim.session_id === sessionId))) return true;
    if (claim.actor !== actor) return false;
    // An instance is one agent, however often its program is started.
    return instanceId !== null || claim.session_id === null || !elsewhere.has(claim.session_id);
  };
}
