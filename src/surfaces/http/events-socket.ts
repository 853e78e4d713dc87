import type { WebSocket } from 'ws';
import { eventRedactor } from '../../features/core/identity/index.ts';
import type { Principal } from '../../kernel/call.ts';
import type { App } from '../../main.ts';
import type { JournalPage } from '../../storage/follow.ts';
import type { Metrics } from './metrics.ts';
import { WRONG_POSITION } from './refuse.ts';
import { type Admitted, CLOSE_GOING_AWAY, CLOSE_SIGNED_OUT, closeSlowReader, type SocketRoute, waitForReader } from './upgrade.ts';

const PATH = '/api/events';
/**
 * If a client leaves this much data unread for `STALLED_MS`, the server closes its
 * socket. The client can reconnect and resume after the last `seq` that it received.
 */
const HIGH_WATER_BYTES = 1024 * 1024;
const STALLED_MS = 10_000;

export interface EventsRouteOptions {
  app: App;
  metrics: Metrics;
  /** Aborts when the server stops. */
  closing: AbortSignal;
  stalledMs?: number | undefined;
}

/** Streams the journal. A client gets every event after `?after=SEQ` exactly once and in order, with one event in each message. */
export function eventsRoute({ app, metrics, closing, stalledMs = STALLED_MS }: EventsRouteOptions): SocketRoute {
  const worded = new WeakMap<JournalPage, Map<string, Promise<Buffer[]>>>();

  /** Redacts a page of events only once for all sockets of the same viewer. */
  function messagesOf(page: JournalPage, viewer: Principal): Promise<Buffer[]> {
    const byViewer = worded.get(page) ?? new Map<string, Promise<Buffer[]>>();
    worded.set(page, byViewer);
    const key = `${viewer.kind} ${viewer.developerId}`;
    const messages = byViewer.get(key) ?? redacted(page, viewer);
    byViewer.set(key, messages);
    // A failed result is not kept, because it would also fail the other sockets.
    messages.catch(() => byViewer.delete(key));
    return messages;
  }

  async function redacted(page: JournalPage, viewer: Principal): Promise<Buffer[]> {
    const redact = await eventRedactor(app.store.reader, viewer.workspace, viewer);
    return (await redact(page)).map((event) => Buffer.from(JSON.stringify(event)));
  }

  async function follow(ws: WebSocket, { principal, current }: Admitted, after: number): Promise<void> {
    metrics.followers.inc();
    const gone = new AbortController();
    ws.on('close', () => gone.abort());
    ws.on('error', () => gone.abort());
    try {
      for await (const page of app.store.follow(principal.workspace, after, AbortSignal.any([gone.signal, closing]))) {
        // The revocation of a token is an event too. Its holder must be disconnected before the event is sent.
        if (!(await current())) return ws.close(CLOSE_SIGNED_OUT, 'the credential is no longer valid');
        for (const message of await messagesOf(page, principal)) ws.send(message, { binary: false });
        if (!(await waitForReader(ws, HIGH_WATER_BYTES, stalledMs))) return closeSlowReader(ws, 'resume with ?after=SEQ');
      }
      ws.close(CLOSE_GOING_AWAY, 'the server is stopping');
    } finally {
      metrics.followers.dec();
    }
  }

  return {
    maxBytes: 1024,
    at(url) {
      if (url.pathname !== PATH) return undefined;
      const after = Number(url.searchParams.get('after') ?? 0);
      if (!Number.isSafeInteger(after) || after < 0) return { refusal: WRONG_POSITION };
      return { enter: (admitted) => ({ serve: (ws) => follow(ws, admitted, after) }) };
    },
  };
}
