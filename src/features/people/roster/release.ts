import { agentIdOf } from '../../../kernel/actor.ts';
import type { WriteContext } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Tx } from '../../../storage/write.ts';
import { releaseClaim } from '../../team/coordination/index.ts';
import { leave } from '../../workflow/agents/index.ts';
import { releaseClaimsOf as releaseStepsOf } from '../../workflow/steps/index.ts';
import type { agentsRelease } from './contract.ts';
import type { Facts } from './gather.ts';
import { claimsLive, registeredAgents, stepsHeld } from './store.ts';

/** Its registered agents leave, as they would by their own word, and its claims are released. What else it holds stays. */
export async function releaseAll(tx: Tx, ctx: WriteContext, { actor }: Pick<Facts, 'actor'>): Promise<Output<typeof agentsRelease>> {
  const holders = new Set((await stepsHeld(tx.db, tx.workspace)).map(({ assigned_agent_id }) => assigned_agent_id));
  const own = (await registeredAgents(tx.db, tx.workspace)).filter((agent) => agent.actor === actor && holders.has(agent.id));
  let steps_released = 0;
  for (const agent of own) steps_released += await leave(tx, ctx, agent, 'agent.offline', releaseStepsOf);
  const claims = (await claimsLive(tx.db, tx.workspace, tx.now)).filter((claim) => claim.actor === actor);
  for (const claim of claims) await releaseClaim(tx, ctx, claim);
  return { agent_id: agentIdOf(actor), steps_released, claims_released: claims.length };
}
