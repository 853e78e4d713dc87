import { agentIdOf } from '../../../kernel/actor.ts';
import type { WriteContext } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Tx } from '../../../storage/write.ts';
import { releaseClaim } from '../../team/coordination/index.ts';
import { leave } from '../../workflow/agents/index.ts';
import { releaseClaimsOf as releaseStepsOf } from '../../workflow/steps/index.ts';
import type { agentsRelease } from './contract.ts';
import type { ActorFacts } from './gather.ts';
import { agentsWithSteps, claimsHeldBy } from './store.ts';

/** Its registered agents leave, as they would by their own word, and its claims are released. What else it holds stays. */
export async function releaseAll(tx: Tx, ctx: WriteContext, { actor }: Pick<ActorFacts, 'actor'>): Promise<Output<typeof agentsRelease>> {
  let steps_released = 0;
  for (const agent of await agentsWithSteps(tx.db, tx.workspace, actor)) steps_released += await leave(tx, ctx, agent, 'agent.offline', releaseStepsOf);
  const claims = await claimsHeldBy(tx.db, tx.workspace, actor, tx.now);
  for (const claim of claims) await releaseClaim(tx, ctx, claim);
  return { agent_id: agentIdOf(actor), steps_released, claims_released: claims.length };
}
