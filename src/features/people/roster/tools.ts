import { agentIdOf } from '../../../kernel/actor.ts';
import type { WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Tx } from '../../../storage/write.ts';
import type { Tally } from '../../core/events/index.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { releaseClaim } from '../../team/coordination/index.ts';
import { leave } from '../../workflow/agents/index.ts';
import { releaseClaimsOf as releaseStepsOf } from '../../workflow/steps/index.ts';
import { AGENT_STATES, type AgentState, agentsLanes, agentsList, agentsRelease, agentsShow, firstSteps, newsList, waitingList } from './contract.ts';
import { type ActorFacts, gatherRoster } from './gather.ts';
import { Happenings } from './happenings.ts';
import { lanesOf } from './lanes.ts';
import { newsSince } from './news.ts';
import { lastRefusal } from './refusals.ts';
import { requireFacts, showAgent } from './show.ts';
import { agentsWithSteps, claimsLive, readFirstSteps } from './store.ts';
import { rowsOf } from './views.ts';
import { listWaiting, type WaitingPorts } from './waiting.ts';

const HOUR_MS = 3_600_000;

export function rosterTools(tally: Tally, ports: WaitingPorts): Implementation[] {
  const happenings = new Happenings();
  const sources = { tally, happenings };
  return [
    implement(agentsList, {
      read: async ({ limit, offset }, { reader, principal, clock }) => {
        const now = clock.now();
        const gathered = await gatherRoster(reader, principal, sources, now);
        const rows = rowsOf(gathered, await viewerOf(reader, principal), now).toSorted(
          (a, b) => urgency(a.row.state) - urgency(b.row.state) || (b.row.last_seen_at ?? 0) - (a.row.last_seen_at ?? 0),
        );
        const states = Object.fromEntries(AGENT_STATES.map((state) => [state, rows.filter(({ row }) => row.state === state).length]));
        const listed = rows.slice(offset, offset + limit);
        const items = await Promise.all(
          listed.map(async ({ row, actor }) =>
            row.state === 'blocked' && actor !== null ? { ...row, why_blocked: await lastRefusal(reader, principal, actor, gathered.day) } : row,
          ),
        );
        return ok({ items, total: rows.length, states: states as Record<AgentState, number> });
      },
    }),
    implement(agentsShow, {
      read: async ({ agent_id }, { reader, principal, clock }) => {
        const now = clock.now();
        return ok(await showAgent(reader, principal, await gatherRoster(reader, principal, sources, now), agent_id, now));
      },
    }),
    implement(agentsLanes, {
      read: async ({ hours }, { reader, principal, workspace, clock }) => {
        const to = clock.now();
        const gathered = await gatherRoster(reader, principal, sources, to);
        return ok(await lanesOf(reader, workspace, gathered, await viewerOf(reader, principal), { from: to - hours * HOUR_MS, to }));
      },
    }),
    implement(agentsRelease, {
      prepare: async ({ agent_id }, { reader, principal, clock }) =>
        requireFacts(await gatherRoster(reader, principal, sources, clock.now()), await viewerOf(reader, principal), agent_id),
      write: async (tx, _, ctx, facts) => ok(await releaseAll(tx, ctx, facts)),
    }),
    implement(newsList, {
      read: async ({ since, limit }, { reader, principal, workspace, clock }) => {
        const now = clock.now();
        const events = await happenings.read(reader, workspace, now);
        return ok(await newsSince(reader, principal, events, { since: since ?? now - 24 * HOUR_MS, limit, now }));
      },
    }),
    implement(waitingList, { read: async (_, { reader, principal, clock }) => ok(await listWaiting(reader, principal, ports, clock.now())) }),
    implement(firstSteps, { read: async (_, { reader, workspace }) => ok(await readFirstSteps(reader, workspace)) }),
  ];
}

const urgency = (state: AgentState): number => AGENT_STATES.indexOf(state);

/** Takes the actor's registered agents offline, as if they had left, and releases its claims. The actor keeps everything else. */
async function releaseAll(tx: Tx, ctx: WriteContext, { actor }: Pick<ActorFacts, 'actor'>): Promise<Output<typeof agentsRelease>> {
  let steps_released = 0;
  for (const agent of await agentsWithSteps(tx.db, tx.workspace, actor)) steps_released += await leave(tx, ctx, agent, 'agent.offline', releaseStepsOf);
  const claims = await claimsLive(tx.db, tx.workspace, tx.now, actor);
  for (const claim of claims) await releaseClaim(tx, ctx, claim);
  return { agent_id: agentIdOf(actor), steps_released, claims_released: claims.length };
}
