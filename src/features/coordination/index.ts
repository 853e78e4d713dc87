import type { House } from '../../kernel/context.ts';
import type { Feature } from '../../kernel/tool.ts';
import { expirySweep } from './expiry.ts';
import { type CoordinationPorts, coordinationTools } from './tools.ts';

export { isAddressedTo } from './addressee.ts';
export { announceToTeam } from './announcements.ts';
export { answerAsk } from './asks.ts';
export { editConflicts, liveClaims, releaseClaim, releaseClaimsOf } from './claims.ts';
export { announcementSlice, askSlice, asksTo, findAnnouncement, findAsk, findHandoff, handoffSlice, handoffsTo, openAsks, readStrings } from './store.ts';
export type { AnnouncementRow, AskRow, HandoffRow } from './tables.ts';
export type { CoordinationPorts } from './tools.ts';
export type { Waiting } from './views.ts';
export { heartbeatListener, markDelivered, waitingFor } from './waiting.ts';

export const coordination = (house: Pick<House, 'store' | 'clock'>, ports: CoordinationPorts): Feature => ({
  name: 'coordination',
  implementations: coordinationTools(ports),
  keeps: [{ what: 'Claims, asks, announcements and context handoffs', ms: null }],
  sweeps: [expirySweep(house)],
});
