import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { ClaimRow } from '../../team/coordination/index.ts';
import { type AgentRow, agentsActingAs } from '../../workflow/agents/index.ts';
import type { HookCaller, HookContext } from './context.ts';
import type { RunQuestion } from './contract.ts';

/** Returns a filter for the claims of the agent itself, which never block it: claims of this run, of an unknown run, or of a run that has ended. */
export function ownClaimFilter(
  { actor, developerId, instanceId }: Principal,
  { others, sessionId }: HookContext,
  { person = false }: Pick<RunQuestion, 'person'> = {},
): (claim: ClaimRow) => boolean {
  const elsewhere = new Set(others.flatMap(({ session_id }) => session_id ?? []));
  return (claim) => {
    if (claim.developer_id === developerId && (person || (sessionId !== null && claim.session_id === sessionId))) return true;
    if (claim.actor !== actor) return false;
    // An instance counts as one agent, however often its program starts.
    return instanceId !== null || claim.session_id === null || !elsewhere.has(claim.session_id);
  };
}

/** A registered agent that was silent for longer than this does not belong to the current run. */
const AGENT_RECENT_MS = 24 * 3_600_000;
const MAX_AGENTS = 20;

const isWithin = (path: string, { folder }: ClientRunRow): boolean =>
  folder !== null && (path === folder || (path.startsWith(folder) && /[\\/]/.test(path.charAt(folder.length))));

/**
 * Returns the workflow agents that this run may have registered. A registration does not contain the run, but often the folder.
 * The list is empty if the run may not use workflow tools.
 */
export async function findOwnAgents(db: Db, { workspace, principal }: HookCaller, { run, others, rights }: HookContext, now: number): Promise<AgentRow[]> {
  if (!rights.workflow) return [];
  const agents = await agentsActingAs(db, workspace, principal.actor, now - AGENT_RECENT_MS, MAX_AGENTS);
  const isElsewhere = ({ workspace_path: path }: AgentRow) =>
    path !== null && run !== undefined && !isWithin(path, run) && others.some((other) => isWithin(path, other));
  return agents.filter((agent) => !isElsewhere(agent));
}
