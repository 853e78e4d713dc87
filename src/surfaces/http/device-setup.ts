import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { Refusal, replyTo } from '../../kernel/errors.ts';
import { addressGroup } from '../../kernel/network.ts';
import { ENVELOPES } from '../../kernel/reply.ts';
import type { App } from '../../main.ts';
import { originOf } from './caller.ts';
import type { Entrance } from './entrance.ts';
import { badBody, type HttpRefusal } from './refuse.ts';

type Env = { Bindings: HttpBindings };

/** How a machine that has no token yet gets one: the only routes besides sign-in that need neither cookie nor token. */
export function deviceRoutes(routes: Hono<Env>, app: App, entrance: Entrance, refuse: (c: Context<Env>, refusal: HttpRefusal) => Promise<Response>): void {
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
