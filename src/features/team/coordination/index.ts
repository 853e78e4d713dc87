import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { expirySweep } from './lease.ts';
import { type CoordinationPorts, coordinationTools } from './tools.ts';

export type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';
export { isAddressedTo } from './addressee.ts';
export { announceToTeam } from './announcements.ts';
export { answerAsk } from './asks.ts';
export { holderOf, liveClaims, nextStep, releaseClaim, releaseClaimsOf } from './claims.ts';
export type { ClaimView, Waiting } from './contract.ts';
export { type EditConflict, editConflicts } from './edits.ts';
export { renewClaims } from './lease.ts';
export { viewsFor } from './present.ts';
export {
  announcementSlice,
  askSlice,
  asksTo,
  findAnnouncement,
  findAsk,
  findHandoff,
  handoffSlice,
  handoffsTo,
  liveClaimRows,
  openAsks,
  readStrings,
} from './store.ts';
export type { CoordinationPorts } from './tools.ts';
export { heartbeatListener, markDelivered, waitingFor } from './waiting.ts';

export const coordination = (services: Pick<Services, 'store' | 'clock' | 'log'>, ports: CoordinationPorts): Feature => ({
  name: 'coordination',
  implementations: coordinationTools(ports),
  keeps: [{ what: 'Claims, asks, announcements and context handoffs', ms: 'retention.days' }],
  sweeps: [expirySweep(services)],
});
