import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { type AgentPorts, silenceSweep } from './presence.ts';
import { agentTools } from './tools.ts';

export type { AgentRow } from '../../../storage/schema-rows.ts';
export {
  AGENT_SILENT,
  type AgentFilter,
  agentsActingAs,
  agentsById,
  dismiss,
  easeAgent,
  enlist,
  expireAgent,
  findAgent,
  isOwn,
  isSilent,
  LEASE_MS,
  leave,
  listAgents,
  requireOnline,
  requireOwn,
  requireOwnAgent,
  seenRunning,
  statusAt,
  touchAgent,
  touchIfStale,
} from './presence.ts';
export { type AgentViewer, agentViewer, capabilitiesOf } from './tools.ts';

export const agents = (services: Pick<Services, 'store' | 'clock' | 'log'>, ports: AgentPorts): Feature => ({
  name: 'agents',
  implementations: agentTools(ports),
  keeps: [{ what: 'Agents that are offline', ms: 'retention.days' }],
  sweeps: [silenceSweep(services, ports.gone)],
});
