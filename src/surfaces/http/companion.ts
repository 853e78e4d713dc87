import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { companionTarball } from '../../features/team/sessions/index.ts';
import type { Principal } from '../../kernel/context.ts';
import type { App } from '../../main.ts';
import { bearer } from './caller.ts';
import type { Entrance } from './entrance.ts';
import { type HttpRefusal, NO_RELEASE, NO_UPDATE_KEY, respond } from './refuse.ts';

type Env = { Bindings: HttpBindings };
type Refuse = (c: Context<Env>, refusal: HttpRefusal, principal?: Principal) => Promise<Response>;

/** The release of the companion that this server offers, and the key that signs releases, to whoever has a token. */
export function companionRoutes(routes: Hono<Env>, app: App, entrance: Entrance, refuse: Refuse): void {
  routes.get('/api/companion/key', async (c) => {
    const caller = await entrance.identify(c.env.incoming, { token: bearer(c.env.incoming) });
    if ('refusal' in caller) return respond(caller.refusal);
    const { public_key } = app.config.companion;
    if (public_key === undefined) return await refuse(c, NO_UPDATE_KEY, caller.principal);
    return c.json({ public_key }, 200, { 'cache-control': 'no-store' });
  });
  routes.get('/api/companion/tarball', async (c) => {
    const caller = await entrance.identify(c.env.incoming, { token: bearer(c.env.incoming) });
    if ('refusal' in caller) return respond(caller.refusal);
    const tarball = await companionTarball(app.config.companion.manifest, app.log);
    if (!tarball) return await refuse(c, NO_RELEASE, caller.principal);
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
