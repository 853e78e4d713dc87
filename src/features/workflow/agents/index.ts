import { sql } from 'kysely';
import type { House } from '../../../kernel/context.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { retentionSweep, rowsOf } from '../../core/settings/index.ts';
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

/** One that comes back after so long is told to register again. */
const FORGOTTEN = [rowsOf('agents', (before) => sql`status = 'offline' and current_task_id is null and last_seen_at < ${before}`)];

export const agents = (house: Pick<House, 'store' | 'clock' | 'log'>, ports: AgentPorts): Feature => ({
  name: 'agents',
  implementations: agentTools(ports),
  keeps: [{ what: 'Agents that are offline', ms: 'retention.days' }],
  sweeps: [silenceSweep(house, ports.gone), retentionSweep(house, 'agents', FORGOTTEN)],
});
