import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { HOOK_CLIENTS } from '../../clients/index.ts';
import { companionTarball } from '../../features/team/sessions/index.ts';
import type { Principal } from '../../kernel/call.ts';
import { replyTo } from '../../kernel/failure.ts';
import { addressGroup } from '../../kernel/network.ts';
import { isRecord } from '../../kernel/registry.ts';
import { ENVELOPES, Refusal } from '../../kernel/reply.ts';
import type { App } from '../../main.ts';
import { FAIL_CLOSED_HEADER, SESSION_HEADER } from '../../wire/headers.ts';
import { HOOK_EVENTS, type HookAnswer, type HookEvent } from '../../wire/hook-question.ts';
import { questionFrom } from '../hook-question.ts';
import type { Entrance } from './entrance.ts';
import { actionStatus, badBody, type HttpRefusal, NATIVE_PAYLOAD, NO_RELEASE, NO_SUCH_PATH, NO_UPDATE_KEY, refusal, respond } from './refuse.ts';
import { bearer, isFromHere, originOf, peerOf } from './request.ts';

type Env = { Bindings: HttpBindings };
type Refuse = (c: Context<Env>, refusal: HttpRefusal, principal?: Principal) => Promise<Response>;

/** The release of the companion that this server offers, and the key that signs releases, to whoever has a token. */
export function companionRoutes(routes: Hono<Env>, app: App, entrance: Entrance, refuse: Refuse): void {
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

/** How a machine that has no token yet gets one: the only routes besides sign-in that need neither cookie nor token. */
export function deviceRoutes(routes: Hono<Env>, app: App, entrance: Entrance, refuse: Refuse): void {
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

const NO_OBJECT = refusal(400, 'MALFORMED_REQUEST', 'The body is not a JSON object.', 'Send the fields of a hook question as a JSON object.', {
  field: 'body',
});

/**
 * `/api/hooks/<client>/<event>`: a client's own payload, or what the companion has made of one. The answer is in the client's words.
 * Of the client's own payload, which is taken from this machine only, nothing is kept but names, ids and paths.
 */
export function hookRoutes(routes: Hono<Env>, app: App, entrance: Entrance, refuse: Refuse): void {
  routes.post('/api/hooks/:client/:event', async (c) => {
    const name = c.req.param('client');
    const client = Object.hasOwn(HOOK_CLIENTS, name) ? HOOK_CLIENTS[name] : undefined;
    const event = HOOK_EVENTS.find((known): known is HookEvent => known === c.req.param('event'));
    const caller = await entrance.identify(c.env.incoming, { token: bearer(c.env.incoming) });
    if ('refusal' in caller) return respond(caller.refusal);
    if (!client || !event) return await refuse(c, NO_SUCH_PATH, caller.principal);
    const body = await entrance.readBody(c.env, 'known');
    if ('problem' in body) return await refuse(c, badBody(body.problem), caller.principal);
    if (!isRecord(body.value)) return await refuse(c, NO_OBJECT, caller.principal);
    const isNative = 'hook_event_name' in body.value;
    if (isNative && !(client.overHttp && isFromHere(peerOf(c.env.incoming), c.env.incoming.headers))) return await refuse(c, NATIVE_PAYLOAD, caller.principal);
    const question = isNative ? questionFrom(client.reduce(event, body.value)) : body.value;
    const { reply, body: refusal } = await app.dispatch.action({
      name: 'hooks.hear',
      args: { ...question, client: name, event, hears: client.contextEvents.includes(event) },
      principal: caller.principal,
      surface: 'api',
    });
    if (reply.status !== 'ok') return c.json(refusal, actionStatus(reply));
    const answer = reply.data as HookAnswer;
    return c.json({ ...client.render(event, answer) }, 200, {
      [FAIL_CLOSED_HEADER]: answer.fail_closed ? '1' : '0',
      ...(answer.session_id !== null && { [SESSION_HEADER]: answer.session_id }),
    });
  });
}
