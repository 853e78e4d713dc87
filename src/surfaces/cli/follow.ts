import { on } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { JournalEvent } from '../../storage/journal.ts';
import { homeFolder } from '../../wire/covenant-home.ts';
import { WORKSPACE_HEADER } from '../../wire/headers.ts';
import { findServer } from './client.ts';
import { CliError } from './command.ts';
import { readCredentials } from './home.ts';

const PAUSES_MS = [100, 250, 500, 1_000, 2_000];

export interface FollowOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly workspace: string | undefined;
  /** The number of the last event that the caller has already read. */
  readonly after: number;
  /** Ends the iteration when it is aborted. */
  readonly signal: AbortSignal;
  /** Called when the connection is lost or restored. */
  connected(is: boolean): void;
}

/** Yields every event after `after` exactly once, even if the server of this home is stopped and started again. */
export async function* followJournal({ env, workspace, after, signal, connected }: FollowOptions): AsyncGenerator<JournalEvent> {
  let last = after;
  for (let attempt = 0; !signal.aborted; attempt++) {
    const server = await findServer(env);
    if (server) {
      const headers = { authorization: `Bearer ${readCredentials(homeFolder(env))}`, ...(workspace === undefined ? {} : { [WORKSPACE_HEADER]: workspace }) };
      const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/api/events?after=${last}`, { headers });
      // While the loop below runs, `on` reports errors. Without this listener, an error after the loop would end the process.
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

/** Throws if the server refused the connection with a status 4xx, because the server would also refuse a retry. */
function throwIfRefused(error: unknown): void {
  const status = /^Unexpected server response: (4\d\d)$/.exec((error as Error).message)?.[1];
  if (status === undefined) return;
  throw status === '401'
    ? new CliError(
        'UNAUTHENTICATED',
        'The server does not accept the token in credentials.json.',
        'Stop the server, then run covenant up. It writes a new token.',
      )
    : new CliError('NOT_FOLLOWED', `The server refused the connection to its journal (HTTP ${status}).`, 'covenant doctor');
}
