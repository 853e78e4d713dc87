import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { contextTools } from './contexts.ts';
import { ACTIVITY_KEPT, WORKTREE_FORGOTTEN_MS } from './contract.ts';
import { lostSessionSweep } from './lifecycle.ts';
import { type SessionParts, sessionTools } from './tools.ts';

export type { AgentSessionRow } from '../../../storage/schema-rows.ts';
export { companionTarball } from './companion.ts';
export { activeContexts, latestContextOf, standingContext } from './contexts.ts';
export { MAX_FILES, STALE_AFTER_MS } from './contract.ts';
export { beginSession, createSessionPorts, finishSession } from './lifecycle.ts';
export { storeSnapshot } from './snapshot.ts';
export { activeSessions, agentTypeOf, findSession, lastActivities, recentSessions, repoOfSession, staleSessions, touchActiveSession } from './store.ts';
export type { SessionParts } from './tools.ts';

export const sessionFeature = (services: Pick<Services, 'store' | 'clock' | 'log'>, parts: SessionParts): Feature => ({
  name: 'sessions',
  implementations: [...contextTools, ...sessionTools(parts)],
  keeps: [
    { what: 'Contexts of sessions that were replaced, revoked or expired', ms: 'retention.days' },
    { what: `Sessions of agents, each with its last ${ACTIVITY_KEPT} lines of activity`, ms: 'retention.days' },
    { what: 'Working trees that are no longer reported', ms: WORKTREE_FORGOTTEN_MS },
  ],
  sweeps: [lostSessionSweep(services)],
});
