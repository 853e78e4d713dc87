import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { covenant, direct, startProgram } from '../../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

interface Event {
  readonly seq: number;
  readonly kind: string;
  readonly actor: string;
  readonly subject: string | null;
  readonly payload: Record<string, unknown>;
}

/** Returns all events so far, as the event stream sends them for this token. */
async function eventsFor(url: string, token: string): Promise<Event[]> {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/api/events?after=0`, { headers: { authorization: `Bearer ${token}` } });
  const events: Event[] = [];
  ws.on('message', (text) => events.push(JSON.parse(String(text))));
  await once(ws, 'open');
  for (let before = -1; events.length > before || events.length === 0; await new Promise((resolve) => setTimeout(resolve, 300))) before = events.length;
  ws.close();
  return events;
}

test('a member who reads events, contexts and sessions cannot link two things of a private developer [harden.private.unlinkable]', async () => {
  const at = { home: temporaryFolder() };
  const { url } = await startProgram(at);
  const token = async (...args: string[]) => String((await covenant(at, 'tokens', 'create', ...args, '--json')).json.token);
  const paula = await token('--developer', 'paula', '--agent', 'gemini');
  const ana = await token('--developer', 'ana', '--agent', 'codex');
  const team = async (who: string, tool: string, args: object) =>
    ((await direct(url, who, tool, args as Record<string, unknown>)).body as { data: never }).data;
  for (const who of [ana, paula]) await team(who, 'covibe_task', { operation: 'plan', title: `Plan of ${who.slice(-6)}`, task_type: 'chore' });
  await team(ana, 'covibe_session', { operation: 'start', repo: 'acme/app' });
  await covenant(at, 'developers', 'visibility', 'paula', 'private');

  const { session_id } = (await team(paula, 'covibe_session', { operation: 'start', branch: 'paula/parser', repo: 'acme/app', model: 'gemini-9' })) as {
    session_id: string;
  };
  const words = { title: 'Parse quoted fields', summary: 'Half done', repo: 'acme/app', branch: 'paula/parser', session_id };
  const { context_id } = (await team(paula, 'covibe_session', { operation: 'publish_context', ...words })) as { context_id: string };
  const planned = { operation: 'plan', title: 'Parse quoted fields of orders', task_type: 'feature', session_id };
  const { task_id } = (await team(paula, 'covibe_task', planned)) as { task_id: string };
  for (let again = 0; again < 3; again++) await team(paula, 'covibe_session', { operation: 'heartbeat', session_id });

  const state = JSON.stringify(await team(ana, 'covibe_team', { operation: 'state' }));
  const context = await team(ana, 'covibe_session', { operation: 'get_context', context_id });
  const events = await eventsFor(url, ana);
  const hers = events.filter(({ actor }) => actor === '@private');
  // Check that the attacker sees something at all: the work and calls of the private developer are visible.
  for (const id of [session_id, context_id, task_id]) expect(state).toContain(id);
  expect(hers.length).toBeGreaterThan(8);

  expect(context).toMatchObject({ context: { context_id, developer: '@private', branch: null, session_id: null } });
  for (const read of [state, JSON.stringify(context), JSON.stringify(events)]) expect(read).not.toMatch(/paula|gemini/);
  // Each id of the private developer must appear only in data about the object itself.
  expect(state.split(session_id)).toHaveLength(2);
  expect(JSON.stringify(context)).not.toContain(session_id);
  for (const { subject, payload } of events)
    for (const id of [session_id, context_id, task_id]) if (subject !== id) expect(JSON.stringify(payload)).not.toContain(id);
  // A text may occur in several of her calls only if calls of other people contain it too.
  const anas = new Set(events.filter(({ actor }) => actor !== '@private').flatMap(({ payload }) => textsIn(payload)));
  const seen = new Map<string, Set<string | number>>();
  for (const { seq, subject, payload } of hers)
    for (const text of textsIn(payload)) if (!anas.has(text)) seen.set(text, (seen.get(text) ?? new Set()).add(subject?.includes('_0') ? subject : seq));
  expect([...seen].filter(([, objects]) => objects.size > 1).map(([text]) => text)).toEqual([]);
});

/** Returns the texts in a value without titles, because data about shared work repeats its title. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]) => (field === 'title' ? [] : textsIn(inner)));
}
