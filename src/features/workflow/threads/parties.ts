import { agentIdOf, agentTypeOf, ownerOf } from '../../../kernel/actor.ts';
import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import { agentsById, agentViewer } from '../agents/index.ts';
import { HUMAN, SERVER } from '../messages/index.ts';
import type { Party } from './contract.ts';

/** Who speaks and who is spoken to, as one viewer may know them. */
export interface Parties {
  developer(id: string, agentType?: string | null): Party;
  /** As the journal names them; `developer` is whom it belongs to, where that is known. */
  actor(actor: string, developer?: string): Party;
  /** By what stands in a message: an agent, the people or the server. */
  agent(id: string, actor: string | null): Party;
}

const nobodys = (name: string): Party => ({ name, agent_id: null });

export async function partiesFor(db: Db, viewer: Principal, now: number, agentIds: readonly string[]): Promise<Parties> {
  const nameOf = await namesFor(db, viewer.workspace, viewer);
  const agents = await agentsById(db, viewer.workspace, [...new Set(agentIds)]);
  const view = await agentViewer(db, viewer, now);
  const developer: Parties['developer'] = (id, agentType = null) => {
    const name = nameOf(id);
    return name === PRIVATE || agentType === null ? nobodys(name) : { name: `${agentType}@${name}`, agent_id: `${agentType}@${id}` };
  };
  const actor: Parties['actor'] = (known, owner) => {
    const person = ownerOf(known);
    if (person !== null) return developer(person, agentTypeOf(known));
    const id = agentIdOf(known);
    if (id === known) return nobodys(known);
    // Whose it is, its name may tell.
    return owner !== undefined && nameOf(owner) === PRIVATE ? nobodys(PRIVATE) : { name: id, agent_id: id };
  };
  return {
    developer,
    actor,
    agent: (id, by) => {
      if (id === HUMAN) return by === null ? nobodys('people') : actor(by);
      if (id === SERVER) return nobodys('the server');
      const row = agents.get(id);
      if (!row) return nobodys(id);
      const { name } = view(row);
      return name === PRIVATE ? nobodys(PRIVATE) : { name, agent_id: actor(row.actor).agent_id };
    },
  };
}
