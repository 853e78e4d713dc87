import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { companionTarball } from '../../features/team/sessions/index.ts';
import type { Principal } from '../../kernel/call.ts';
import { replyTo } from '../../kernel/failure.ts';
import { addressGroup } from '../../kernel/network.ts';
import { ENVELOPES, Refusal } from '../../kernel/reply.ts';
import type { App } from '../../main.ts';
import type { Entrance } from './entrance.ts';
import { badBody, type HttpRefusal, NO_RELEASE, NO_UPDATE_KEY, respond } from './refuse.ts';
import { bearer, originOf } from './request.ts';

type Env = { Bindings: HttpBindings };
/** Sends a refusal and records it in the journal. */
export type RefuseRequest = (c: Context<Env>, refusal: HttpRefusal, principal?: Principal) => Promise<Response>;

/** Serves the companion's release and the public key for releases to every caller with a token. */
export function companionRoutes(routes: Hono<Env>, app: App, entrance: Entrance, refuse: RefuseRequest): void {
  const serve = (path: string, work: (c: Context<Env>, principal: Principal) => Promise<Response>) =>
    routes.get(path, async (c) => {
      const caller = await entrance.identify(c.env.incoming, { token: bearer(c.env.incoming) });
      return 'refusal' in caller ? respond(caller.refusal) : await work(c, caller.principal);
    });

  serve('/api/companion/key', async (c, principal) => {
    const { public_key } = app.config.companion;
    if (public_key === undefined) return await refuse(c, NO_UPDATE_KEY, principal);
    return c.json({ public_key }, 200, { 'cache-control': 'no-store' });
  });
  serve('/api/companion/tarball', async (c, principal) => {
    const tarball = await companionTarball(app.config.companion.manifest, app.log);
    if (!tarball) return await refuse(c, NO_RELEASE, principal);
    const headers = {
      'content-type': 'application/gzip',
      'content-length': String(tarball.size),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    };
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    return new Response(Readable.toWeb(createReadStream(tarball.path)) as ReadableStream, { headers });
  });
}

/** Adds the routes on which a machine without a token gets tokens. All other API routes, except sign-in and `/api/health`, need a cookie or a token. */
export function deviceRoutes(routes: Hono<Env>, app: App, entrance: Entrance, refuse: RefuseRequest): void {
  const serve = (path: string, work: (c: Context<Env>, body: unknown) => Promise<Response>) =>
    routes.post(path, async (c) => {
      const body = await entrance.readBody(c.env, 'device');
      if ('problem' in body) return await refuse(c, badBody(body.problem));
      c.header('cache-control', 'no-store');
      try {
        return await work(c, body.value);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const reply = replyTo(error, '');
        const after = error.details.retry_after;
        if (typeof after !== 'number') return await refuse(c, { status: error.code === 'DEVICE_NOT_FOUND' ? 404 : 400, reply });
        c.header('retry-after', String(after));
        return c.json(ENVELOPES.team.render(reply), 429);
      }
    });

  serve('/api/setup/device', async (c, body) => {
    const asked = await app.devices.ask(addressGroup(entrance.sourceOf(c.env.incoming)), body);
    const page = `${originOf(app, c.env.incoming)}/setup/authorize`;
    return c.json({ ...asked, verification_uri: page, verification_uri_complete: `${page}?code=${asked.user_code}` });
  });

  serve('/api/setup/device/poll', async (c, body) => {
    const polled = await app.devices.poll(body);
    if (polled.status !== 'slow_down') return c.json(polled);
    c.header('retry-after', String(polled.interval));
    return c.json(polled, 429);
  });
}
