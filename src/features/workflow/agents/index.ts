import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { type AgentPorts, silenceSweep } from './presence.ts';
import { agentTools } from './tools.ts';

export type { AgentRow } from '../../../storage/schema-rows.ts';
export {
  AGENT_SILENT,
  agentsActingAs,
  agentsById,
  easeAgent,
  expireAgent,
  findAgent,
  isOwn,
  isSilent,
  LEASE_MS,
  leave,
  requireOnline,
  requireOwn,
  requireOwnAgent,
  statusAt,
  touchAgent,
  touchIfStale,
} from './presence.ts';
export { dismiss, enlist, seenRunning } from './started.ts';
export { type AgentFilter, type AgentViewer, agentViewer, capabilitiesOf, listAgents } from './views.ts';

export const agents = (services: Pick<Services, 'store' | 'clock' | 'log'>, ports: AgentPorts): Feature => ({
  name: 'agents',
  implementations: agentTools(ports),
  keeps: [{ what: 'Agents that are offline', ms: 'retention.days' }],
  sweeps: [silenceSweep(services, ports.gone)],
});
