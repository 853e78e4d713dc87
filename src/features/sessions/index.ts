import type { Feature } from '../../kernel/tool.ts';
import type { Db } from '../../storage/engine.ts';
import { findSession } from './store.ts';
import { type SessionParts, sessionTools } from './tools.ts';

export { createSessionPorts } from './ports.ts';
export { agentTypeOf } from './store.ts';
export { recentSessions, staleSessions } from './views.ts';

export const sessionFeature = (parts: SessionParts): Feature => ({ name: 'sessions', implementations: sessionTools(parts) });

/** The repository that a session said it is in, or that its last snapshot came from. */
export async function repoOfSession(db: Db, workspace: string, sessionId: string | null): Promise<string | null> {
  return sessionId ? ((await findSession(db, workspace, sessionId))?.repo ?? null) : null;
}
