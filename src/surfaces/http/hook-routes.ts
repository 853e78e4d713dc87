import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { HOOK_CLIENTS } from '../../clients/index.ts';
import { isRecord } from '../../kernel/registry.ts';
import type { App } from '../../main.ts';
import { FAIL_CLOSED_HEADER, SESSION_HEADER } from '../../wire/headers.ts';
import { HOOK_EVENTS, type HookAnswer, type HookEvent } from '../../wire/hook-question.ts';
import { questionFrom } from '../hook-question.ts';
import type { RefuseRequest } from './companion.ts';
import type { Entrance } from './entrance.ts';
import { actionStatus, badBody, NATIVE_PAYLOAD, NO_SUCH_PATH, refusal, respond } from './refuse.ts';
import { bearer, isFromHere, peerOf } from './request.ts';

const NO_OBJECT = refusal(
  400,
  'MALFORMED_REQUEST',
  'The body must be a JSON object.',
  'Send a JSON object such as {"folder": "…", "repo": "…", "branch": "…", "edits": [{"repo": "…", "path": "…"}]}. All fields are optional, except `repo` and `path` of an edit.',
  { field: 'body' },
);

/**
 * `/api/hooks/<client>/<event>` accepts a client's own payload, or a question that the companion made from such a payload. The response has
 * the client's format. A client's own payload is accepted only from this machine, and only its names, ids and paths are stored.
 */
export function hookRoutes(routes: Hono<{ Bindings: HttpBindings }>, app: App, entrance: Entrance, refuse: RefuseRequest): void {
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
