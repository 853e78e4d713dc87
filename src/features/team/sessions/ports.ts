import type { Services } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import type { Ports } from '../../../kernel/ports.ts';
import { compiledQuery } from '../../../storage/prepared.ts';
import { touchActiveSession } from './store.ts';

const ownerOf = compiledQuery(2, (db, workspace: string, sessionId: string) =>
  db.selectFrom('agent_sessions').select('developer_id').where('workspace_id', '=', workspace).where('id', '=', sessionId),
);

/** In the same words whether there is no such session or it is somebody else's. */
export const sessionNotFound = (sessionId: string): Refusal =>
  new Refusal(
    'SESSION_NOT_FOUND',
    `You have no session ${JSON.stringify(sessionId)}.`,
    'Use the session_id that covibe_session start gave you, or start a session.',
    { field: 'session_id' },
  );

/** What the pipe asks of sessions. An owner never changes, so that committed rows are enough to go by. */
export function createSessionPorts({ store }: Services): Pick<Ports, 'enterSession' | 'touchSession'> {
  return {
    async enterSession(principal, sessionId) {
      const [session] = await ownerOf(store.reader, principal.workspace, sessionId);
      if (!session || session.developer_id !== principal.developerId) throw sessionNotFound(sessionId);
    },
    touchSession: touchActiveSession,
  };
}
