import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { createEnterWorkspace, redactor } from '../../features/identity/index.ts';
import type { Principal } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import { refused } from '../../kernel/reply.ts';
import { noWorkspace } from '../../kernel/unserved.ts';
import type { App } from '../../main.ts';
import { WORKSPACE_HEADER } from '../workspace.ts';
import { bearer, cookie, identify, sourceOf } from './caller.ts';
import type { Guard } from './guard.ts';
import type { Metrics } from './metrics.ts';
import { foreign, type HttpRefusal, NO_SUCH_PATH, respond, WRONG_POSITION } from './refuse.ts';

const PATH = '/api/events';
/** A reader that has this much unread, and reads none of it for this long, is dropped: it can resume by `seq`. */
const HIGH_WATER_BYTES = 1024 * 1024;
const STALLED_MS = 10_000;
export const CLOSE_SLOW = 4408;
const CLOSE_SIGNED_OUT = 4401;
const CLOSE_GOING_AWAY = 1001;
/** A peer that is gone without a word (a laptop that went to sleep) is noticed by the second ping it does not answer. */
const PING_MS = 30_000;

export interface EventsSocketOptions {
  app: App;
  guard: Guard;
  metrics: Metrics;
  cookieName: () => string;
  stalledMs?: number;
}

/** The journal as a stream: every event after `?after=SEQ`, in order, one a message, none twice and none missing. */
export function attachEventsSocket(server: Server, options: EventsSocketOptions): { close(): void } {
  const { app, guard, metrics } = options;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 });
  const closing = new AbortController();
  const enterWorkspace = createEnterWorkspace(app);

  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    admit(incoming)
      .then((admitted) => {
        if ('refusal' in admitted) return refuseUpgrade(socket, admitted.refusal);
        sockets.handleUpgrade(incoming, socket, head, (ws) => void follow(ws, admitted));
        return undefined;
      })
      .catch((error) => {
        app.log.error('upgrade failed', { error });
        socket.destroy();
      });
  });

  async function admit(incoming: IncomingMessage): Promise<Admitted | { refusal: HttpRefusal }> {
    const problem = guard(incoming.headers.host, incoming.headers.origin);
    if (problem) {
      metrics.refused(problem);
      await app.refusals.record(sourceOf(incoming), { category: 'audit', kind: 'request_refused', payload: { reason: problem, path: PATH } });
      return { refusal: foreign(problem) };
    }
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    if (url.pathname !== PATH) return { refusal: NO_SUCH_PATH };
    const after = Number(url.searchParams.get('after') ?? 0);
    if (!Number.isSafeInteger(after) || after < 0) return { refusal: WRONG_POSITION };
    const credentials = { token: bearer(incoming), cookie: cookie(incoming, options.cookieName()) };
    const identified = await identify(app, incoming, credentials);
    if ('refusal' in identified) return identified;
    const entered = await enteredBy(identified.principal, incoming.headers[WORKSPACE_HEADER]);
    return 'refusal' in entered ? entered : { ...entered, ...credentials, after };
  }

  /** As in any other call: the operator may name a workspace, and it must be there. */
  async function enteredBy(caller: Principal, named: string | string[] | undefined): Promise<{ principal: Principal } | { refusal: HttpRefusal }> {
    if (named === undefined) return { principal: caller };
    const workspace = String(named);
    try {
      const { principal, exists } = await enterWorkspace(caller, workspace);
      return exists ? { principal } : { refusal: { status: 404, reply: noWorkspace({ workspace }) } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, next, details } = error;
      return { refusal: { status: code === 'OPERATOR_REQUIRED' ? 403 : 400, reply: refused('error', code, message, next, details) } };
    }
  }

  async function follow(ws: WebSocket, { principal, after, token, cookie }: Admitted): Promise<void> {
    metrics.followers.inc();
    const stopPinging = pingWhileOpen(ws);
    const gone = new AbortController();
    ws.on('close', () => gone.abort());
    ws.on('error', () => gone.abort());
    try {
      const signal = AbortSignal.any([gone.signal, closing.signal]);
      for await (const page of app.store.follow(principal.workspace, after, signal)) {
        // A revocation is itself an event: the reader whom it concerns is gone before it would be sent.
        const still = await (token === undefined ? app.authenticate(cookie, 'cookie') : app.authenticate(token, 'bearer'));
        if ('rejected' in still) return ws.close(CLOSE_SIGNED_OUT, 'the credential is no longer valid');
        const redact = await redactor(app.store.reader, principal.workspace, principal);
        for (const event of page) ws.send(JSON.stringify(redact(event)));
        if (!(await drained(ws, options.stalledMs ?? STALLED_MS))) {
          ws.close(CLOSE_SLOW, 'too slow: resume with ?after=SEQ');
          // A peer that does not read will not read the close frame either.
          setTimeout(() => ws.terminate(), 1_000).unref();
          return;
        }
      }
      ws.close(CLOSE_GOING_AWAY, 'the server is stopping');
    } catch (error) {
      app.log.error('event stream failed', { error });
      ws.close(1011, 'the server failed to read the journal');
    } finally {
      stopPinging();
      metrics.followers.dec();
    }
  }

  return {
    close() {
      closing.abort();
      for (const ws of sockets.clients) ws.close(CLOSE_GOING_AWAY, 'the server is stopping');
      sockets.close();
    },
  };
}

interface Admitted {
  readonly principal: Principal;
  readonly after: number;
  readonly token?: string | undefined;
  readonly cookie?: string | undefined;
}

function pingWhileOpen(ws: WebSocket): () => void {
  let answered = true;
  ws.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return ws.terminate();
    answered = false;
    ws.ping();
  }, PING_MS).unref();
  return () => clearInterval(timer);
}

/** Waits until the reader has caught up; false when it has read nothing for `stalledMs`. */
async function drained(ws: WebSocket, stalledMs: number): Promise<boolean> {
  let least = ws.bufferedAmount;
  let since = performance.now();
  while (ws.readyState === ws.OPEN && ws.bufferedAmount > HIGH_WATER_BYTES) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (ws.bufferedAmount < least) {
      least = ws.bufferedAmount;
      since = performance.now();
    } else if (performance.now() - since > stalledMs) {
      return false;
    }
  }
  return true;
}

function refuseUpgrade(socket: Duplex, refusal: HttpRefusal): void {
  const response = respond(refusal);
  void response.text().then((body) => {
    socket.end(
      `HTTP/1.1 ${refusal.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  });
}
