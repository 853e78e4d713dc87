import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import type { AgentPorts } from './ports.ts';
import { silenceSweep } from './sweep.ts';
import { agentTools } from './tools.ts';

export type { AgentRow } from '../../../storage/schema-rows.ts';
export { dismiss, enlist, seenRunning } from './enlist.ts';
export { leave, noteSilence } from './leave.ts';
export { isSilent, LEASE_MS, statusAt } from './liveness.ts';
export { easeAgent, isOwn, noteSign, requireOnline, requireOwn, requireOwnAgent, touchAgent } from './own.ts';
export { type AgentFilter, agentsActingAs, agentsById, findAgent, listAgents } from './store.ts';
export { agentViewer, capabilitiesOf } from './views.ts';

export const agents = (house: Pick<House, 'store' | 'clock'>, ports: AgentPorts): Feature => ({
  name: 'agents',
  implementations: agentTools(ports),
  sweeps: [silenceSweep(house, ports.gone)],
});
