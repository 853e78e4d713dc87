import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { announcementTools } from './announcements.ts';
import { askTools } from './asks.ts';
import { type ClaimListener, claimTools } from './claims.ts';
import { type HandoffPorts, handoffTools } from './handoffs.ts';
import { expirySweep } from './lease.ts';
import { listTools } from './lists.ts';
import { summaryTool } from './summary.ts';

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
export { heartbeatListener, markDelivered, waitingFor } from './waiting.ts';

/** What coordination needs from the features that store the work. */
export interface CoordinationPorts extends HandoffPorts {
  readonly onClaim: ClaimListener;
}

export const coordination = (services: Pick<Services, 'store' | 'clock' | 'log'>, ports: CoordinationPorts): Feature => ({
  name: 'coordination',
  implementations: [...announcementTools, ...claimTools(ports.onClaim), ...askTools, ...handoffTools(ports), ...listTools, summaryTool],
  keeps: [{ what: 'Claims, asks, announcements and context handoffs', ms: 'retention.days' }],
  sweeps: [expirySweep(services)],
});
