import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { silenceSweep } from './leaving.ts';
import { type AgentPorts, agentTools } from './tools.ts';

export type { AgentRow } from '../../../storage/schema-rows.ts';
export { AGENT_SILENT, expireAgent, leave } from './leaving.ts';
export {
  agentsActingAs,
  agentsById,
  findAgent,
  isOwn,
  isSilent,
  LEASE_MS,
  requireOnline,
  requireOwn,
  requireOwnAgent,
  setAgentIdle,
  statusAt,
  touchAgent,
  touchIfStale,
} from './presence.ts';
export { endStartedAgent, noteRunning, registerStartedAgent } from './started.ts';
export { type AgentFilter, type AgentViewer, agentViewer, capabilitiesOf, listAgents } from './views.ts';

export const agents = (services: Pick<Services, 'store' | 'clock' | 'log'>, ports: AgentPorts): Feature => ({
  name: 'agents',
  implementations: agentTools(ports),
  keeps: [{ what: 'Offline agents', ms: 'retention.days' }],
  sweeps: [silenceSweep(services, ports.releaseClaims)],
});
