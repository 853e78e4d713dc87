import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { type AgentPorts, silenceSweep } from './presence.ts';
import { agentTools } from './tools.ts';

export type { AgentRow } from '../../../storage/schema-rows.ts';
export {
  dismiss,
  easeAgent,
  enlist,
  isOwn,
  leave,
  noteSign,
  noteSilence,
  requireOnline,
  requireOwn,
  requireOwnAgent,
  seenRunning,
  touchAgent,
} from './presence.ts';
export { type AgentFilter, agentsActingAs, agentsById, findAgent, isSilent, LEASE_MS, listAgents, statusAt } from './store.ts';
export { agentViewer, capabilitiesOf } from './tools.ts';

export const agents = (house: Pick<House, 'store' | 'clock'>, ports: AgentPorts): Feature => ({
  name: 'agents',
  implementations: agentTools(ports),
  sweeps: [silenceSweep(house, ports.gone)],
});
