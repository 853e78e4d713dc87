import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { createEnterWorkspace } from '../../features/core/identity/index.ts';
import type { Principal } from '../../kernel/call.ts';
import { noWorkspace } from '../../kernel/early-refusals.ts';
import { Refusal, refused } from '../../kernel/reply.ts';
import type { App } from '../../main.ts';
import { WORKSPACE_HEADER } from '../../wire/headers.ts';
import type { Guard } from './entrance.ts';
import { type Entrance, KeyedShare } from './entrance.ts';
import type { Metrics } from './metrics.ts';
import { foreignHeader, type HttpRefusal, NO_SUCH_PATH, type OrRefusal, respond, TOO_MANY_SOCKETS } from './refuse.ts';
import { bearer, pathOf } from './request.ts';

export const CLOSE_SLOW = 4408;
export const CLOSE_SIGNED_OUT = 4401;
export const CLOSE_GOING_AWAY = 1001;
/** The time between two pings. An unanswered ping shows that the peer is gone, for example because a laptop sleeps. */
const PING_MS = 30_000;

export interface Admitted {
  readonly principal: Principal;
  /** Returns the current principal of the credential, or undefined if the credential is no longer valid. */
  current(): Promise<Principal | undefined>;
}

/** A route that is served over a WebSocket. */
export interface SocketRoute {
  /** The largest message that it accepts, in bytes. */
  readonly maxBytes: number;
  /**
   * Returns undefined if the URL belongs to another route. Otherwise returns a refusal, or
   * a function that decides whether the caller may connect and that serves the open socket.
   */
  at(url: URL): OrRefusal<{ enter(admitted: Admitted): OrRefusal<{ serve(ws: WebSocket): Promise<void> }> }> | undefined;
}

/** A socket that passed all checks, with the route that serves it. */
interface AdmittedSocket extends Pick<Admitted, 'current'> {
  serve(ws: WebSocket): Promise<void>;
}

export interface UpgradeParts {
  app: App;
  guard: Guard;
  entrance: Entrance;
  metrics: Metrics;
}

/** Checks every socket in the same order: request rate, Host and Origin, URL, credential, workspace, and finally the checks of the route. */
export function attachUpgrades(server: Server, { app, guard, entrance, metrics }: UpgradeParts, routes: readonly SocketRoute[]): { close(): void } {
  const sockets = new Map(routes.map((route) => [route, new WebSocketServer({ noServer: true, maxPayload: route.maxBytes })]));
  const enterWorkspace = createEnterWorkspace(app);
  // The number of sockets is limited, because each socket causes work for every event in the journal.
  const places = new KeyedShare(app.config.limits.sockets, app.config.limits.sockets_per_token);

  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    admit(incoming)
      .then((admitted) => {
        if ('refusal' in admitted) return refuseUpgrade(socket, admitted.refusal);
        sockets.get(admitted.route)?.handleUpgrade(incoming, socket, head, (ws) => void serveSocket(ws, admitted));
        return undefined;
      })
      .catch((error) => {
        app.log.error('upgrade failed', { error });
        socket.destroy();
      });
  });

  async function admit(incoming: IncomingMessage): Promise<OrRefusal<AdmittedSocket & { route: SocketRoute }>> {
    const url = URL.parse(incoming.url ?? '/', 'http://localhost');
    const limited = await entrance.admit({ incoming, path: url?.pathname ?? '/', byTicket: true });
    if (limited) return { refusal: limited };
    const problem = guard(incoming.headers.host, incoming.headers.origin);
    if (problem) {
      metrics.refused(problem);
      await app.refusals.record(entrance.sourceOf(incoming), {
        category: 'audit',
        kind: 'request_refused',
        payload: { reason: problem, path: pathOf(incoming) },
      });
      return { refusal: foreignHeader(problem) };
    }
    if (!url) return { refusal: NO_SUCH_PATH };
    const [found] = routes.flatMap((route) => {
      const at = route.at(url);
      return at ? [{ route, at }] : [];
    });
    if (!found) return { refusal: NO_SUCH_PATH };
    if ('refusal' in found.at) return found.at;
    const token = bearer(incoming);
    const identified = await entrance.identify(incoming, { token, session: true, byTicket: true });
    if ('refusal' in identified) return identified;
    const entered = await enterNamedWorkspace(identified.principal, incoming.headers[WORKSPACE_HEADER]);
    if ('refusal' in entered) return entered;
    const current = async () => {
      const known = token === undefined ? await app.currentSession(identified.principal) : await principalNow(token);
      return known && { ...known, workspace: entered.principal.workspace };
    };
    const inside = found.at.enter({ principal: entered.principal, current });
    if ('refusal' in inside) return inside;
    const { tokenId } = entered.principal;
    // If the client has already disconnected, no `close` event would follow, and its place would stay taken.
    if (incoming.socket.destroyed) return { refusal: NO_SUCH_PATH };
    if (!places.take(tokenId)) {
      app.refusals.count(entered.principal, TOO_MANY_SOCKETS.reply.code);
      return { refusal: TOO_MANY_SOCKETS };
    }
    // The `close` event also occurs if a client disconnects before the handshake is complete.
    incoming.socket.once('close', () => places.giveBack(tokenId));
    return { route: found.route, serve: inside.serve, current };
  }

  /** Authenticates again the token that opened the socket. After a rotation, the old secret of a token is valid only until the overlap period ends. */
  async function principalNow(token: string): Promise<Principal | undefined> {
    const known = await app.authenticate(token, 'bearer');
    return 'principal' in known ? known.principal : undefined;
  }

  /** As in every other call, the operator may name a workspace, which must exist. */
  async function enterNamedWorkspace(caller: Principal, named: string | string[] | undefined): Promise<OrRefusal<{ principal: Principal }>> {
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

  async function serveSocket(ws: WebSocket, { serve, current }: AdmittedSocket): Promise<void> {
    // Without this listener, a message that is too large would cause an error that ends the server.
    ws.on('error', () => {});
    // Checks the credential regularly, so that an idle socket is closed when its credential expires.
    const look = async () => {
      if (!(await current())) ws.close(CLOSE_SIGNED_OUT, 'the credential is no longer valid');
    };
    const stopPinging = pingWhileOpen(ws, () => void look().catch((error) => app.log.warn('the credential of a socket could not be checked', { error })));
    try {
      await serve(ws);
    } catch (error) {
      app.log.error('socket failed', { error });
      ws.close(1011, 'the server failed');
    } finally {
      stopPinging();
    }
  }

  return {
    close() {
      for (const each of sockets.values()) {
        for (const ws of each.clients) ws.close(CLOSE_GOING_AWAY, 'the server is stopping');
        each.close();
      }
    },
  };
}

function pingWhileOpen(ws: WebSocket, look: () => void): () => void {
  let answered = true;
  ws.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return ws.terminate();
    answered = false;
    ws.ping();
    look();
  }, PING_MS).unref();
  return () => clearInterval(timer);
}

/** Waits until the client has read enough. Resolves to false if the client has read nothing for `stalledMs`. */
export async function waitForReader(ws: WebSocket, highWaterBytes: number, stalledMs: number): Promise<boolean> {
  let least = ws.bufferedAmount;
  let since = performance.now();
  while (ws.readyState === ws.OPEN && ws.bufferedAmount > highWaterBytes) {
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

export function closeSlowReader(ws: WebSocket, advice: string): void {
  ws.close(CLOSE_SLOW, `too slow: ${advice}`);
  // The connection is ended after a second, because a client that does not read data does not read the close frame either.
  setTimeout(() => ws.terminate(), 1_000).unref();
}

function refuseUpgrade(socket: Duplex, refusal: HttpRefusal): void {
  const after = refusal.retryAfter === undefined ? '' : `retry-after: ${refusal.retryAfter}\r\n`;
  void respond(refusal)
    .text()
    .then((body) => {
      const head = `HTTP/1.1 ${refusal.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${after}connection: close`;
      socket.end(`${head}\r\n\r\n${body}`);
    });
}
