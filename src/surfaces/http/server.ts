import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { waitAtMost } from '../../kernel/clock.ts';
import type { App } from '../../main.ts';
import { createMcpSurface } from '../mcp/handler.ts';
import { createDashboard } from './dashboard.ts';
import { boundConnections, boundPipelining, createEntrance, createGuard } from './entrance.ts';
import { eventsRoute } from './events-socket.ts';
import { createHealth } from './health.ts';
import type { Metrics } from './metrics.ts';
import { cookieName } from './request.ts';
import { createRoutes, withRequestScope } from './routes.ts';
import { type TerminalLimits, terminalRoute } from './terminal-socket.ts';
import { attachUpgrades } from './upgrade.ts';

export interface RunningServer {
  readonly url: string;
  readonly instance: string;
  /** Stops the server. Waits at most `graceMs` for the calls in progress, and closes all sockets. */
  close(graceMs?: number): Promise<void>;
}

export interface ServeOptions {
  app: App;
  metrics: Metrics;
  /** For tests with slow readers. */
  stalledMs?: number;
  /** For tests of terminals. */
  terminals?: Partial<TerminalLimits>;
  /** The folder of the built dashboard, if it is not the default. */
  dashboard?: string | undefined;
}

/**
 * The time for which an idle connection stays open. Proxies reuse an idle connection for up to two
 * minutes. If the server closed the connection first, the next request of the proxy would fail.
 */
const KEPT_OPEN_MS = 125_000;

export async function serve({ app, metrics, stalledMs, terminals, dashboard }: ServeOptions): Promise<RunningServer> {
  const instance = crypto.randomUUID();
  const guard = createGuard(app.config);
  const mcp = createMcpSurface(app);
  let port = app.config.port;
  const entrance = createEntrance(app, () => cookieName(port));
  const routes = createRoutes({
    app,
    mcp,
    guard,
    entrance,
    metrics,
    health: createHealth(app, instance),
    dashboard: createDashboard(dashboard),
    cookieName: () => cookieName(port),
  });
  const { limits, trusted_proxies } = app.config;
  const times = {
    keepAliveTimeout: KEPT_OPEN_MS,
    headersTimeout: limits.header_seconds * 1_000,
    requestTimeout: Math.max(limits.request_seconds, limits.header_seconds) * 1_000,
    connectionsCheckingInterval: 2_000,
  };
  const server = createServer(times, boundPipelining(withRequestScope(app, getRequestListener(routes.fetch))));
  boundConnections(server, limits, trusted_proxies);
  const closing = new AbortController();
  const sockets = attachUpgrades(server, { app, guard, entrance, metrics }, [
    eventsRoute({ app, metrics, closing: closing.signal, stalledMs }),
    terminalRoute({ app, metrics, closing: closing.signal, limits: terminals }),
  ]);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(app.config.port, app.config.host, resolve);
  });
  port = (server.address() as AddressInfo).port;
  const host = app.config.host.includes(':') ? `[${app.config.host}]` : app.config.host;

  const url = `http://${host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host}:${port}`;
  app.servesAt(url);

  return {
    url,
    instance,
    async close(graceMs = 3_000) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.abort();
      sockets.close();
      await waitAtMost(graceMs, app.dispatch.idle());
      app.dispatch.shutDown();
      await waitAtMost(200, app.dispatch.idle());
      // Waits one more turn of the event loop, so that the last responses are written to their sockets.
      await pause(20);
      await mcp.close();
      server.closeIdleConnections();
      await waitAtMost(500, closed);
      server.closeAllConnections();
      await closed;
    },
  };
}
