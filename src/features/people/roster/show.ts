import { z } from 'zod';
import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { actorOf, ownerOf } from '../../../kernel/ids.ts';
import { notFound } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { toEvent } from '../../../storage/journal.ts';
import { findRows, matching, readJson, rowsById, view } from '../../../storage/rows.ts';
import { grantStatus, standingGrants } from '../../core/capabilities/index.ts';
import { type TalliedRefusal as Counted, type DayTally, DENIED_EDIT } from '../../core/events/index.ts';
import { redactor, type Viewer } from '../../core/identity/index.ts';
import { agentViewer, LEASE_MS } from '../../workflow/agents/index.ts';
import { newestCheckpoints } from '../../workflow/workflows/index.ts';
import { PLACES } from '../lookup/index.ts';
import {
  type agentsShow,
  carriedToken,
  heldClaim,
  heldStep,
  heldTask,
  type RecentRefusal,
  recentSession,
  registeredAgent,
  reportedWorktree,
  standingGrant,
} from './contract.ts';
import { type ActorFacts, actorOfSpan, type RosterFacts } from './gather.ts';
import { heldNow, showSpans } from './lanes.ts';
import type { WorkSpan } from './spans.ts';
import { patternsOf, rowOf, shortened } from './views.ts';

type Shown = Output<typeof agentsShow>;

const MINUTE_MS = 60_000;
const CALL_MINUTES = 180;
const WORK_SHOWN = 20;
const SESSIONS_SHOWN = 10;
/** Of each kind of what it holds; the row has how many there are. */
const HELD_SHOWN = 100;
const FILES_SHOWN = 50;
const SUMMARY_SHOWN = 1_000;
const WORKTREES_SHOWN = 10;
const CHECKPOINTS_LOOKED_AT = 20;

/** By its id or by the name that people call it. In the same words whether there is none or it is nobody else's business. */
export function requireFacts({ facts }: Pick<RosterFacts, 'facts'>, viewer: Viewer, agentId: string): ActorFacts {
  const found = facts.get(actorOf(agentId)) ?? [...facts.values()].find(({ actor, developerId }) => viewer.agent(actor, developerId).name === agentId);
  if (found && viewer.sees(found.developerId)) return found;
  throw notFound(
    'AGENT_NOT_FOUND',
    `There is no agent ${JSON.stringify(agentId)} here, or none that was heard of lately.`,
    'agents.list names those there are.',
    'agent_id',
  );
}

export async function showAgent(db: Db, principal: Principal, gathered: RosterFacts, agentId: string, now: number): Promise<Shown> {
  const viewer = await agentViewer(db, principal, now);
  const facts = requireFacts(gathered, viewer, agentId);
  const { day } = gathered;
  const refusals = await readRefusals(db, principal, facts.actor, day.actors.get(facts.actor)?.refusals ?? []);
  const row = rowOf([facts], viewer.agent(facts.actor, facts.developerId), day, now);
  const mayKnow = principal.operator || (facts.developerId !== null && facts.developerId === principal.developerId);
  return {
    agent: { ...row, why_blocked: row.state === 'blocked' ? (refusals.find(isLastAnswer(day, facts.actor)) ?? null) : null },
    tasks: facts.tasks
      .slice(0, HELD_SHOWN)
      .map((task) =>
        view(heldTask, task, { task_id: task.id, title: shortened(task.title), since: task.started_at ?? task.updated_at, path: PLACES.task(task.id, '') }),
      ),
    steps: await stepsOf(db, principal.workspace, facts),
    claims: facts.claims
      .slice(0, HELD_SHOWN)
      .map((claim) => view(heldClaim, claim, { claim_id: claim.id, patterns: patternsOf(claim), path: PLACES.claim(claim.id, '') })),
    locks: facts.locks.slice(0, HELD_SHOWN).map(({ id, feature, lock_role, lock_acquired_at, expires_at }) => ({
      cycle: id,
      feature,
      role: lock_role,
      since: lock_acquired_at,
      session_expires_at: expires_at,
      path: PLACES.cycle(id, ''),
    })),
    work: await workOf(db, principal.workspace, gathered, viewer, facts),
    worktrees: await worktrees(db, principal.workspace, facts),
    sessions: facts.sessions.slice(0, SESSIONS_SHOWN).map((session) => view(recentSession, session, { session_id: session.id })),
    registered: facts.registered
      .slice(0, SESSIONS_SHOWN)
      .map(viewer.view)
      .map((agent) => view(registeredAgent, agent, { agent_id: agent.id })),
    refusals,
    grants: mayKnow ? await grantsOf(db, principal.workspace, facts, now) : null,
    tokens: mayKnow ? facts.tokens.map((token) => tokenView(token, now)) : null,
    calls: callsOf(day, facts.actor, now),
  };
}

async function stepsOf(db: Db, workspace: string, { steps: all, registered }: ActorFacts): Promise<Shown['steps']> {
  const steps = all.slice(0, HELD_SHOWN);
  const workflowIds = steps.map(({ workflow_id }) => workflow_id);
  const workflows = await rowsById(db, 'workflows', workspace, workflowIds, ['name']);
  return steps.map((step) => {
    const agent_id = step.assigned_agent_id as string;
    const lastSeen = registered.find(({ id }) => id === agent_id)?.last_seen_at;
    return view(heldStep, step, {
      task_id: step.id,
      name: shortened(step.name),
      workflow_name: workflows.get(step.workflow_id)?.name ?? null,
      agent_id,
      lease_expires_at: lastSeen === undefined ? null : lastSeen + LEASE_MS,
      path: PLACES['workflow task'](step.id, step.workflow_id),
    });
  });
}

/** What it held lately, with the last that it left on record there, and who went on with what it lost. */
async function workOf(db: Db, workspace: string, gathered: RosterFacts, viewer: Viewer, facts: ActorFacts): Promise<Shown['work']> {
  const past = facts.spans.filter(({ to }) => to !== null);
  const latest = [...past, ...heldNow(facts)].toSorted((a, b) => (b.to ?? Number.POSITIVE_INFINITY) - (a.to ?? Number.POSITIVE_INFINITY)).slice(0, WORK_SHOWN);
  const shown = await showSpans(db, workspace, latest);
  const everybody = [...gathered.facts.values()].flatMap((each) => [...each.spans, ...heldNow(each)]);
  return await Promise.all(
    shown.map(async (span, index) => {
      const held = latest[index] as WorkSpan;
      const next = span.to === null ? undefined : everybody.find((other) => other.id === span.id && other.from >= (span.to as number));
      const taker = next && actorOfSpan(next, gathered.agentActor);
      return {
        ...span,
        checkpoint: held.kind === 'step' ? await lastCheckpoint(db, workspace, held) : null,
        taken_by: taker === undefined ? null : viewer.agent(taker, gathered.facts.get(taker)?.developerId),
        taken_at: next?.from ?? null,
      };
    }),
  );
}

async function lastCheckpoint(db: Db, workspace: string, { id, holder }: WorkSpan): Promise<Shown['work'][number]['checkpoint']> {
  const rows = await newestCheckpoints(db, workspace, id, CHECKPOINTS_LOOKED_AT);
  // That its claim ended is told under its name too, but is nothing that it said.
  const own = rows.find(({ agent_id, type }) => type !== 'recovery' && 'agentId' in holder && agent_id === holder.agentId);
  return own ? { sequence: own.sequence, type: own.type, summary: beginning(own.summary, SUMMARY_SHOWN), created_at: own.created_at } : null;
}

const files = z.array(z.string());

async function worktrees(db: Db, workspace: string, { developerId, sessions }: ActorFacts): Promise<Shown['worktrees']> {
  if (developerId === null) return [];
  const ofSessions = { workspace_id: workspace, developer_id: developerId, session_id: sessions.map(({ id }) => id) };
  const rows = await findRows(db, 'local_worktrees', ofSessions, { order: { updated_at: 'desc' }, limit: WORKTREES_SHOWN });
  return rows.map((row) => {
    const [dirty, unpushed] = [readJson(files, row.dirty_files), readJson(files, row.unpushed_files)];
    return view(reportedWorktree, row, {
      branch: row.branch || null,
      worktree: row.worktree || null,
      dirty: dirty.slice(0, FILES_SHOWN),
      dirty_count: dirty.length,
      unpushed: unpushed.slice(0, FILES_SHOWN),
      unpushed_count: unpushed.length,
      reported_at: row.updated_at,
    });
  });
}

async function grantsOf(db: Db, workspace: string, { tokens, instance, developerId, actor }: ActorFacts, now: number): Promise<Shown['grants']> {
  const live = tokens.filter(({ revoked_at }) => revoked_at === null).map(({ id }) => `token:${id}`);
  const instances = instance ? [`instance:${instance.id}`, ...(instance.token_id === null ? [] : [`token:${instance.token_id}`])] : [];
  const subjects = [...live, ...instances, ...(developerId === null ? [] : [`developer:${developerId}`]), ...(actor === 'operator' ? ['operator'] : [])];
  if (subjects.length === 0) return [];
  const rows = await standingGrants(db, workspace, subjects);
  return rows.map((grant) => view(standingGrant, grant, { grant_id: grant.id, status: grantStatus(grant, now) }));
}

function tokenView(token: ActorFacts['tokens'][number], now: number) {
  const { revoked_at, expires_at } = token;
  return view(carriedToken, token, {
    token_id: token.id,
    status: revoked_at !== null ? 'revoked' : expires_at !== null && now > expires_at ? 'expired' : 'live',
  });
}

function callsOf(day: DayTally, actor: string, now: number): Shown['calls'] {
  const last = Math.floor(now / MINUTE_MS);
  const minutes = Array.from({ length: CALL_MINUTES }, (_, index) => last - CALL_MINUTES + 1 + index);
  const counts = day.actors.get(actor)?.minutes;
  const at = (minute: number) => counts?.get(minute) ?? { calls: 0, refused: 0 };
  return {
    times: minutes.map((minute) => minute * MINUTE_MS),
    granted: minutes.map((minute) => at(minute).calls - at(minute).refused),
    refused: minutes.map((minute) => at(minute).refused),
  };
}

/** What an overlap was refused with. */
const OVERLAP = /^(?:VERDICT|OVERLAP|DUPLICATE)_/;

/** Refusals with the words that the caller got, the newest first. A block's words stand in the feedback that follows it. */
export async function readRefusals(db: Db, viewer: Principal, actor: string, counted: readonly Counted[]): Promise<RecentRefusal[]> {
  if (counted.length === 0) return [];
  const events = await findRows(db, 'events', { workspace_id: viewer.workspace, seq: counted.flatMap(({ seq }) => [seq, seq + 1]) });
  const redact = await redactor(db, viewer.workspace, viewer);
  const shown = new Map((await redact(events.map(toEvent))).map((event) => [event.seq, event]));
  const warnings = counted.some(({ code }) => OVERLAP.test(code ?? '')) ? await warningsOf(db, viewer.workspace, ownerOf(actor)) : [];
  return [...counted].reverse().map(({ seq, time, kind, outcome, code }) => {
    const usage = shown.get(seq)?.payload;
    const next = shown.get(seq + 1);
    const feedback = next?.category === 'feedback' && next.payload.request_id === usage?.request_id ? next.payload : undefined;
    const told = (usage?.told ?? feedback ?? {}) as { message?: string; required_action?: string };
    const warning = OVERLAP.test(code ?? '') ? warnings.find(({ created_at }) => created_at <= time) : undefined;
    return {
      seq,
      time,
      asked: kind,
      outcome,
      code,
      message: told.message ?? null,
      required_action: told.required_action ?? null,
      warning_id: warning?.id ?? null,
      edit: kind === DENIED_EDIT && usage ? editIn(usage) : null,
    };
  });
}

function editIn({ path, claim_id, client, tool }: Readonly<Record<string, unknown>>): RecentRefusal['edit'] {
  if (typeof path !== 'string' || typeof claim_id !== 'string' || typeof client !== 'string') return null;
  return { path, claim_id, client, tool: typeof tool === 'string' ? tool : null };
}

/** What the agent was last answered, where that was a refusal: an edit may have been denied since, which blocks no call. */
export function isLastAnswer(day: DayTally, actor: string): (refusal: { seq: number }) => boolean {
  const last = day.actors.get(actor)?.lastCall;
  return ({ seq }) => seq === last?.seq;
}

export async function lastRefusal(db: Db, viewer: Principal, actor: string, day: DayTally): Promise<RecentRefusal | null> {
  const last = day.actors.get(actor)?.refusals.find(isLastAnswer(day, actor));
  return last ? ((await readRefusals(db, viewer, actor, [last]))[0] ?? null) : null;
}

const WARNINGS_LOOKED_AT = 100;

/** The overlaps that a developer's checks found, the newest first. */
async function warningsOf(db: Db, workspace: string, developerId: string | null): Promise<{ id: string; created_at: number }[]> {
  if (developerId === null) return [];
  const found = matching(db, 'overlap_warnings', { workspace_id: workspace, developer_id: developerId }).select(['id', 'created_at']);
  return await found.orderBy('id', 'desc').limit(WARNINGS_LOOKED_AT).execute();
}
