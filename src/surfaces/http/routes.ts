import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { type SignInRequest, signInRequest } from '../../features/core/identity/index.ts';
import type { Principal, Services } from '../../kernel/call.ts';
import { replyTo } from '../../kernel/failure.ts';
import { isRecord, parseInput } from '../../kernel/registry.ts';
import { ENVELOPES, Refusal } from '../../kernel/reply.ts';
import { RequestScope, traceContext } from '../../kernel/trace.ts';
import type { App } from '../../main.ts';
import { newId } from '../../storage/rows.ts';
import { PROOF_HEADER, SURFACE_HEADER, WORKSPACE_HEADER } from '../../wire/headers.ts';
import type { McpSurface } from '../mcp/handler.ts';
import { nearestToolsets, PUBLISHED_TOOLSETS, toolsetsOfPath } from '../mcp/toolsets.ts';
import { companionRoutes, deviceRoutes } from './companion.ts';
import type { StaticFiles } from './dashboard.ts';
import type { Entrance, Guard } from './entrance.ts';
import { exportEvents } from './export.ts';
import type { HealthReport } from './health.ts';
import { hookRoutes } from './hook-routes.ts';
import type { Metrics } from './metrics.ts';
import {
  actionStatus,
  badBody,
  badMcpBody,
  foreignHeader,
  type HttpRefusal,
  malformed,
  NO_SUCH_PATH,
  noSuchToolset,
  respond,
  signInStatus,
  UNAUTHENTICATED,
  UNKNOWN_SESSION,
} from './refuse.ts';
import { bearer, ClientGone, isFromHere, originOf, pathOf, peerOf, readReportedPlace } from './request.ts';

const HEADER = 'x-request-id';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** Gives every request an id. The response, the call and all log lines of the request contain this id. */
export function withRequestScope({ clock, log }: Pick<Services, 'clock' | 'log'>, listener: Listener): (...request: Parameters<Listener>) => void {
  return (incoming, outgoing) => {
    const started = performance.now();
    const request = newId('req', clock.now());
    const scope = new RequestScope({ request, lends: true });
    outgoing.setHeader(HEADER, request);
    outgoing.once('close', () => {
      scope.end();
      if (log.level !== 'debug') return;
      const ms = Math.round((performance.now() - started) * 10) / 10;
      log.debug('request', { request, method: incoming.method, path: pathOf(incoming), status: outgoing.statusCode, ms });
    });
    scope.run(() => listener(incoming, outgoing));
  };
}

const requestOf = (outgoing: { getHeader(name: string): unknown }): string => String(outgoing.getHeader(HEADER));

/** The route for the download of events. The browser opens it with a ticket, because it cannot add headers to a download. */
const EXPORT_PATH = '/api/events/export';

type Env = { Bindings: HttpBindings };
type Ctx = Context<Env>;

interface RouteParts {
  app: App;
  mcp: McpSurface;
  guard: Guard;
  entrance: Entrance;
  metrics: Metrics;
  health: () => Promise<HealthReport>;
  dashboard: StaticFiles;
  cookieName: () => string;
}

export function createRoutes(parts: RouteParts): Hono<Env> {
  const { app, mcp, guard, entrance, metrics, health, dashboard } = parts;
  const { sourceOf, identify } = entrance;
  const routes = new Hono<Env>();

  /**
   * Refuses a request before it reaches the pipe. The journal records the refusal without the content of the request. The number of these records is limited.
   */
  const refuse = async (c: Ctx, refusal: HttpRefusal, category: 'usage' | 'audit', principal?: Principal): Promise<Response> => {
    const { incoming } = c.env;
    metrics.refused(refusal.reply.code);
    const { code } = refusal.reply;
    const payload = { code, path: pathOf(incoming), outcome: 'error' };
    const kind = category === 'usage' ? 'malformed_request' : 'request_refused';
    // A refusal for too many requests is only counted, because recording each of them would fill the journal.
    const isCounted = refusal.retryAfter !== undefined || (principal && (await app.journalQuota.exceeded(principal)));
    if (isCounted) app.refusals.count(principal ?? sourceOf(incoming), code);
    else if (principal) {
      await app.store.append(principal.workspace, [{ category, kind, actor: principal.actor, payload: { ...payload, token_id: principal.tokenId } }]);
      app.journalQuota.grew(principal, 1);
    } else await app.refusals.record(sourceOf(incoming), { category, kind, payload });
    return respond(refusal);
  };

  routes.use(async (c, next) => {
    const { headers } = c.env.incoming;
    // Any site may link to a page of the dashboard, but only the dashboard may use the
    // API. `c.req.path` is decoded here, in the same way as for the selection of a route.
    const site = c.req.path.startsWith('/api/') ? String(headers['sec-fetch-site'] ?? '') : undefined;
    const problem = guard(headers.host, headers.origin, site);
    const limited = await entrance.admit({ ...c.env, path: c.req.path, byTicket: c.req.path === EXPORT_PATH });
    if (limited) {
      metrics.refused(limited.reply.code);
      return respond(limited);
    }
    return problem ? await refuse(c, foreignHeader(problem), 'audit') : await next();
  });

  routes.post('/api/mcp', async (c) => {
    const { incoming } = c.env;
    const isKnown = entrance.isKnown(incoming);
    const body = await entrance.readBody(c.env, isKnown ? 'known' : 'unknown');
    const envelope = 'problem' in body ? badBody(body.problem, isKnown) : directEnvelope(body.value);
    if ('status' in envelope) return await refuse(c, envelope, 'usage', await principalOfToken(app, bearer(incoming)));
    const caller = await entrance.identifyByBody(incoming, envelope.token ?? bearer(incoming));
    if ('refusal' in caller) return respond(caller.refusal);
    const answer = await app.dispatch.tool({
      name: envelope.tool,
      args: envelope.arguments,
      principal: caller.principal,
      surface: surfaceOf(c, caller.principal),
      workspace: c.req.header(WORKSPACE_HEADER),
      ...readReportedPlace((header) => c.req.header(header)),
      trace: traceContext((header) => c.req.header(header)),
      signal: untilGone(c),
    });
    return c.json(answer.body);
  });

  routes.all('/mcp/:toolsets?', async (c) => {
    const { incoming } = c.env;
    const caller = await identify(incoming, { token: bearer(incoming) });
    if ('refusal' in caller) return respond(caller.refusal);
    const isPost = c.req.method === 'POST';
    const body = isPost ? await entrance.readBody(c.env, 'known') : { value: undefined };
    if ('problem' in body) return await refuse(c, badMcpBody(body.problem), 'usage', caller.principal);
    if (isPost && body.value === undefined) return await refuse(c, badMcpBody({ kind: 'not-json' }), 'usage', caller.principal);
    const more = Array.isArray(body.value) ? body.value.length - 1 : 0;
    const tooMany = more > 0 ? entrance.countMore(incoming, caller.principal, more) : undefined;
    if (tooMany) return respond(tooMany);
    const path = c.req.param('toolsets') ?? '';
    const toolsets = toolsetsOfPath(path || undefined, caller.principal);
    if (!toolsets) {
      const near = await nearestToolsets(path, caller.principal, app);
      return await refuse(c, noSuchToolset(path, PUBLISHED_TOOLSETS, near), 'usage', caller.principal);
    }
    const reported = readReportedPlace((header) => c.req.header(header));
    const token = bearer(incoming);
    const isCurrent = async () => 'principal' in (await app.authenticate(token, 'bearer'));
    const answer = await mcp.handle(c.req.raw, body.value, { principal: caller.principal, toolsets, ...reported, isCurrent });
    return answer ?? (await refuse(c, UNKNOWN_SESSION, 'usage', caller.principal));
  });

  routes.post('/api/actions/:name', async (c) => {
    const { incoming } = c.env;
    const name = c.req.param('name');
    const caller = await identify(incoming, { token: bearer(incoming), session: true });
    if ('refusal' in caller) return respond(caller.refusal);
    const body = await entrance.readBody(c.env, 'known');
    if ('problem' in body) return await refuse(c, badBody(body.problem), 'usage', caller.principal);
    const answer = await app.dispatch.action({
      name,
      args: body.value ?? {},
      principal: caller.principal,
      surface: surfaceOf(c, caller.principal),
      workspace: c.req.header(WORKSPACE_HEADER),
      ...readReportedPlace((header) => c.req.header(header)),
      trace: traceContext((header) => c.req.header(header)),
    });
    return c.json(answer.body, actionStatus(answer.reply));
  });

  for (const add of [deviceRoutes, companionRoutes, hookRoutes]) add(routes, app, entrance, (c, refusal, principal) => refuse(c, refusal, 'usage', principal));

  for (const action of app.registry.actions()) {
    const { route, access } = [...action.operations.values()][0]?.contract ?? {};
    if (!route) continue;
    const [method, path] = route.split(' ') as ['GET' | 'POST', string];
    if (access !== 'member') throw new Error(`${action.name}: a route is for signed-in members`);
    routes.on(method, path, async (c) => await forMember(c, action.name));
  }

  /** Answers a person at the dashboard. These routes accept only the sign-in cookie, so that no agent can use them with its token. */
  async function forMember(c: Ctx, name: string): Promise<Response> {
    const { incoming } = c.env;
    const caller = await identify(incoming, { session: true });
    if ('refusal' in caller) return respond(caller.refusal);
    const body = c.req.method === 'POST' ? await entrance.readBody(c.env, 'known') : { value: undefined };
    if ('problem' in body) return await refuse(c, badBody(body.problem), 'usage', caller.principal);
    const answer = await app.dispatch.action({ name, args: body.value ?? {}, principal: caller.principal, surface: 'dashboard' });
    return c.json(answer.body, actionStatus(answer.reply));
  }

  routes.get(EXPORT_PATH, async (c) => {
    const { incoming } = c.env;
    const caller = await identify(incoming, { session: true, byTicket: true });
    if ('refusal' in caller) return respond(caller.refusal);
    const current = async () => (await app.currentSession(caller.principal)) !== undefined;
    const { ticket: _, ...filter } = c.req.query();
    const made = await exportEvents(app, { principal: caller.principal, filter, current });
    return made instanceof Response ? made : c.json(made.body, actionStatus(made.reply));
  });

  // `GET /signin/<code>` only shows the page, so that a link preview does not use up the code.
  routes.post('/api/signin', async (c) => {
    const { incoming } = c.env;
    const body = await entrance.readBody(c.env, 'device');
    if ('problem' in body) return await refuse(c, badBody(body.problem), 'usage');
    c.header('cache-control', 'no-store');
    try {
      const request = parseInput({ input: signInRequest }, body.value) as SignInRequest;
      const { cookie: session, proof, maxAgeSeconds, developer, workspace } = await app.signIn(request, await entrance.sessionOf(incoming));
      const secure = originOf(app, incoming).startsWith('https:') ? '; Secure' : '';
      c.header('set-cookie', `${parts.cookieName()}=${session}; Path=/; HttpOnly; SameSite=Strict${secure}; Max-Age=${maxAgeSeconds}`);
      return c.json({ kind: 'signed_in', proof, header: PROOF_HEADER, developer, workspace });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === 'SIGNIN_LINK_INVALID')
        await app.refusals.record(sourceOf(incoming), { category: 'audit', kind: 'authentication_failed', payload: { reason: 'link', door: 'signin' } });
      return respond({ status: signInStatus(error.code), reply: replyTo(error, '') });
    }
  });

  routes.get('/api/health', async (c) => {
    const state = await health();
    return c.json(state, state.status === 'ok' ? 200 : 503);
  });

  routes.get('/metrics', async (c) => {
    if (!isFromHere(peerOf(c.env.incoming), c.env.incoming.headers)) {
      const caller = await identify(c.env.incoming, { token: bearer(c.env.incoming) });
      if ('refusal' in caller) return respond(caller.refusal);
      if (!caller.principal.operator) return respond(UNAUTHENTICATED);
    }
    return c.text(await metrics.text(), 200, { 'content-type': metrics.contentType });
  });

  routes.all('/api/*', async (c) => await refuse(c, NO_SUCH_PATH, 'usage'));
  routes.get('*', async (c) => (await dashboard.file(c.req.path, c.req.header('accept-encoding'))) ?? respond(NO_SUCH_PATH));
  routes.notFound(() => respond(NO_SUCH_PATH));
  routes.onError((error, c) => {
    if (error instanceof ClientGone) return c.body(null, 400);
    const reference = requestOf(c.env.outgoing);
    app.log.error('request failed', { path: pathOf(c.env.incoming), error });
    const reply = replyTo(error, reference);
    return c.json(ENVELOPES.team.render(reply), reply.code === 'INTERNAL' ? 500 : 503);
  });
  return routes;
}

interface DirectEnvelope {
  tool: string;
  arguments: Record<string, unknown>;
  token?: string;
}

/** Reads the envelope of a direct call. Accepts only `{tool, arguments, token?}`. A refusal names the wrong field. */
function directEnvelope(value: unknown): DirectEnvelope | HttpRefusal {
  if (!isRecord(value)) return malformed('The body must be a JSON object.', 'body');
  const { tool, arguments: args = {}, token, ...rest } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return malformed(`Unknown field ${JSON.stringify(unknown.slice(0, 60))}.`, unknown.slice(0, 60));
  if (typeof tool !== 'string' || tool === '') return malformed('tool: expected the name of a tool.', 'tool');
  if (!isRecord(args)) return malformed('arguments: expected an object.', 'arguments');
  if (token !== undefined && typeof token !== 'string') return malformed('token: expected a string.', 'token');
  return token === undefined ? { tool, arguments: args } : { tool, arguments: args, token };
}

/** Returns the sender of a malformed request if its token is valid, otherwise undefined. */
async function principalOfToken(app: App, token: string | undefined): Promise<Principal | undefined> {
  const result = await app.authenticate(token, 'bearer');
  return 'principal' in result ? result.principal : undefined;
}

/** Returns a signal that aborts if the caller disconnects before the response is complete. */
function untilGone({ env: { outgoing } }: Ctx): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => outgoing.writableFinished || gone.abort());
  return gone.signal;
}

function surfaceOf(c: Ctx, principal: Principal) {
  if (principal.web) return 'dashboard' as const;
  return c.req.header(SURFACE_HEADER) === 'cli' ? ('cli' as const) : ('api' as const);
}
