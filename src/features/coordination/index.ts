import type { House } from '../../kernel/context.ts';
import type { Feature } from '../../kernel/tool.ts';
import { expirySweep } from './expiry.ts';
import { type CoordinationPorts, coordinationTools } from './tools.ts';

export { editConflicts, liveClaims, releaseClaimsOf } from './claims.ts';
export type { CoordinationPorts } from './tools.ts';
export type { Waiting } from './views.ts';
export { heartbeatListener, markDelivered, waitingFor } from './waiting.ts';

export const coordination = (house: Pick<House, 'store' | 'clock'>, ports: CoordinationPorts): Feature => ({
  name: 'coordination',
  implementations: coordinationTools(ports),
  sweeps: [expirySweep(house)],
});
