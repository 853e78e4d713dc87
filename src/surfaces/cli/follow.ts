import { on } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { homeFolder } from '../../config.ts';
import type { JournalEvent } from '../../storage/journal.ts';
import { WORKSPACE_HEADER } from '../../wire/headers.ts';
import { findServer } from './client.ts';
import { CliError } from './command.ts';
import { readCredentials } from './home.ts';

const PAUSES_MS = [100, 250, 500, 1_000, 2_000];

export interface FollowOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly workspace: string | undefined;
  /** The last event that is known already. */
  readonly after: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** The connection is lost, or there again. */
  connected(is: boolean): void;
}

/** Every later event, none twice and none missing, also when the server is stopped and another of the same home is started. */
export async function* followJournal({ env, workspace, after, signal, connected }: FollowOptions): AsyncGenerator<JournalEvent> {
  let last = after;
  for (let attempt = 0; !signal.aborted; attempt++) {
    const server = await findServer(env);
    if (server) {
      const headers = { authorization: `Bearer ${readCredentials(homeFolder(env))}`, ...(workspace === undefined ? {} : { [WORKSPACE_HEADER]: workspace }) };
      const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/api/events?after=${last}`, { headers });
      // Told to whoever reads on; after that nobody is left to hear of it, and it would end the process.
      socket.on('error', () => {});
      socket.once('open', () => {
        attempt = 0;
        connected(true);
      });
      try {
        for await (const [data] of on(socket, 'message', { signal, close: ['close'] })) {
          const event = JSON.parse(String(data)) as JournalEvent;
          last = event.seq;
          yield event;
        }
      } catch (error) {
        throwIfRefused(error);
      } finally {
        socket.terminate();
      }
    }
    if (!signal.aborted) connected(false);
    await pause(PAUSES_MS[attempt] ?? 2_000, undefined, { signal }).catch(() => {});
  }
}

/** To ask the same again would change nothing. */
function throwIfRefused(error: unknown): void {
  const status = /^Unexpected server response: (4\d\d)$/.exec((error as Error).message)?.[1];
  if (status === undefined) return;
  throw status === '401'
    ? new CliError('UNAUTHENTICATED', 'The server does not accept the token in credentials.json.', 'Stop the server and start it again: it writes a new one.')
    : new CliError('NOT_FOLLOWED', `The server does not let its journal be followed (HTTP ${status}).`, 'covenant doctor');
}
