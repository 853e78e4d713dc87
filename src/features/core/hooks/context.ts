import type { CallContext, Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { renewClaims } from '../../team/coordination/index.ts';
import { type AgentSessionRow, STALE_AFTER_MS, touchActiveSession } from '../../team/sessions/index.ts';
import { callingDeveloper } from '../identity/index.ts';
import type { RunQuestion } from './contract.ts';
import type { HookRights } from './rights.ts';
import { endSession, findNamedSession, type SessionListeners } from './session.ts';
import { runsOf, saveRun } from './store.ts';
import { NO_CHANGES_AT_START } from './working-tree.ts';

export type HookCaller = Pick<CallContext, 'workspace' | 'principal'>;

/** The agent run that calls the hook. */
export interface HookContext {
  /** Undefined if the client does not report the id of its run. */
  readonly run: ClientRunRow | undefined;
  /** Other active runs of the same agent. If it is not known which run calls, the list is empty, because each run could be the calling one. */
  readonly others: readonly ClientRunRow[];
  /** The open session of the run, or else the open session that the call named. */
  readonly sessionId: string | null;
  readonly rights: HookRights;
  /** A text that informs the agent about a change that it did not cause itself. */
  readonly notice?: string | undefined;
}

/** Hooks run before and after every tool call, so a sign of life of a run is recorded at most once in this time, even if the clock is set back. */
const SIGN_OF_LIFE_EVERY_MS = 20_000;

/** Reads the run and records a sign of life if one is due. Most hooks write nothing else. */
export async function hookContextOf(ctx: CallContext, question: RunQuestion, rights: HookRights, { end = [] }: SessionListeners): Promise<HookContext> {
  const named = await findNamedSession(ctx, question);
  const { client_session, client, event, person } = question;
  if (client_session === undefined || person) return { run: undefined, others: [], sessionId: named?.id ?? null, rights };
  // The named session is bound to the run only after the tool call, because a call that ends a session names that session, too.
  const bound = event === 'after-tool' ? named : undefined;
  const now = ctx.clock.now();
  const found = await runsAround(ctx.reader, ctx, client_session, now);
  const { run } = found;
  const isDue =
    run === undefined ||
    run.ended_at !== null ||
    Math.abs(now - run.last_seen_at) >= SIGN_OF_LIFE_EVERY_MS ||
    (bound !== undefined && bound.id !== run.session_id);
  // A git hook does not belong to an agent run, and a hook at the end of a run must not start a run.
  const isNone = event === 'session-end' || (client === 'git' && run === undefined);
  if (!isDue || isNone) return { ...found, sessionId: run?.session_id ?? named?.id ?? null, rights };
  return await ctx.write((tx) => recordSignOfLife(tx, ctx, { ...question, client_session }, rights, bound, end));
}

/** Reads the run and the other active runs of the same agent, as this transaction sees them. */
export async function runsAround(
  db: Db,
  { workspace, principal }: HookCaller,
  clientSession: string,
  now: number,
): Promise<Pick<HookContext, 'run' | 'others'>> {
  const runs = await runsOf(db, workspace, principal.actor, clientSession, now - STALE_AFTER_MS);
  return { run: runs.find((run) => run.client_session === clientSession), others: runs.filter((run) => run.client_session !== clientSession) };
}

async function recordSignOfLife(
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
  // This needs no grant, because the session belongs to the agent and the change affects nobody else.
  if (run.session_id !== null) await touchActiveSession(tx, run.session_id);
  await renewClaims(tx, { ...ctx, session: run.session_id }, run.session_id);
  const notice =
    released > 0 && rights.sessions
      ? `Covenant: this run now belongs to session ${run.session_id}. Session ${left}, which was started automatically, has ended, and its ${released} claim(s) were released. If you still need them, claim them again with covibe_coordination claim.`
      : undefined;
  return { run, others, sessionId: run.session_id, rights, notice };
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
    found: NO_CHANGES_AT_START,
    started_at: tx.now,
    last_seen_at: tx.now,
    ended_at: null,
  };
}
