import { CLIENT_NAMES } from '../../../clients/client.ts';
import type { Principal } from '../../../kernel/call.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { developerFor } from '../../core/identity/index.ts';

/** The recipient of a message: all agents of a developer or, if `agentType` is set, only the agents of that type. */
interface Addressee {
  readonly developerId: string;
  readonly agentType: string | null;
}

/**
 * Accepts `mira`, `@mira`, the developer's id, or `codex@mira`. If the part before an @ is no agent type, the whole text is taken as a developer's
 * name.
 */
export async function addresseeOf(db: Db, workspace: string, caller: Principal, to: string): Promise<Addressee> {
  const agentType = CLIENT_NAMES.find((type) => to.startsWith(`${type}@`)) ?? null;
  const developer = await namedBy(db, workspace, caller, agentType ? to.slice(agentType.length + 1) : to);
  if (developer.id === caller.developerId && (agentType === null || agentType === caller.agentType)) {
    const other = CLIENT_NAMES.find((type) => type !== caller.agentType);
    throw new Refusal('ADDRESSEE_IS_CALLER', '`to` names you.', `Name another developer, or another of your agents, such as "${other}@${developer.name}".`, {
      field: 'to',
    });
  }
  return { developerId: developer.id, agentType };
}

async function namedBy(db: Db, workspace: string, caller: Principal, who: string) {
  try {
    return await developerFor(db, workspace, caller, who);
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(error.code, `to: ${error.message}`, error.next, { ...error.details, field: 'to' });
    throw error;
  }
}

export const isAddressedTo = (row: { to_developer_id: string; to_agent_type: string | null }, caller: Principal): boolean =>
  row.to_developer_id === caller.developerId && (row.to_agent_type === null || row.to_agent_type === caller.agentType);
