import { z } from 'zod';
import { actorOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { notFound } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { findRows, readJson, rowsById, view } from '../../../storage/rows.ts';
import { grantStatus, standingGrants } from '../../core/capabilities/index.ts';
import type { DayTally } from '../../core/events/index.ts';
import { tokenEnd, type Viewer } from '../../core/identity/index.ts';
import { agentViewer, LEASE_MS } from '../../workflow/agents/index.ts';
import { newestCheckpoints } from '../../workflow/workflows/index.ts';
import { PLACES } from '../lookup/index.ts';
import { type agentsShow, carriedToken, heldClaim, heldStep, heldTask, recentSession, registeredAgent, reportedWorktree, standingGrant } from './contract.ts';
import { type ActorFacts, actorOfSpan, type RosterFacts } from './gather.ts';
import { heldNow, showSpans } from './lanes.ts';
import { isLastAnswer, readRefusals } from './refusals.ts';
import type { WorkSpan } from './spans.ts';
import { patternsOf, rowOf, shortened } from './views.ts';

type Shown = Output<typeof agentsShow>;

const MINUTE_MS = 60_000;
const CALL_MINUTES = 180;
const WORK_SHOWN = 20;
const SESSIONS_SHOWN = 10;
/** The maximum number of items per kind. `agent.holds` contains the total number. */
const HELD_SHOWN = 100;
const FILES_SHOWN = 50;
const SUMMARY_SHOWN = 1_000;
const WORKTREES_SHOWN = 10;
const CHECKPOINTS_LOOKED_AT = 20;

/** Finds an agent by id or name. The message is the same for an agent that does not exist and for a private agent. */
export function requireFacts({ facts }: Pick<RosterFacts, 'facts'>, viewer: Viewer, agentId: string): ActorFacts {
  const found = facts.get(actorOf(agentId)) ?? [...facts.values()].find(({ actor, developerId }) => viewer.agent(actor, developerId).name === agentId);
  if (found && viewer.sees(found.developerId)) return found;
  throw notFound(
    'AGENT_NOT_FOUND',
    `Agent ${JSON.stringify(agentId)} does not exist, or was not active recently.`,
    'To see the agents at work, run: covenant agents list',
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
    tokens: mayKnow ? facts.tokens.map((token) => view(carriedToken, token, { token_id: token.id, status: tokenEnd(token, now) ?? 'live' })) : null,
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

/** Returns the recent work of the agent. Each item contains its last checkpoint and the agent that continued it. */
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
  // The server records the end of a claim as a checkpoint under the agent's name, but the agent did not write that checkpoint.
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
