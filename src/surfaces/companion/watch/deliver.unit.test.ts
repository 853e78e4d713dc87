import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { whenOver } from '../../../testing/scope.ts';
import { claudeLine, transcriptPath, writeLines } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { inboxOf } from '../usage-readers/inbox.ts';
import { syncUsage } from './sync.ts';

interface Said {
  readonly source: string;
  readonly payload: { readonly id: string };
}

/** A server that gives this answer to every use. If the answer is undefined, the connection fails. */
async function server(answer: (said: Said) => 'ok' | 'error' | undefined) {
  const asked: Said[] = [];
  const http = createServer(async (incoming, outgoing) => {
    const { arguments: said } = (await json(incoming)) as { arguments: Said };
    asked.push(said);
    const status = answer(said);
    if (status === undefined) outgoing.destroy();
    else outgoing.end(JSON.stringify({ status, data: { code: 'INTERNAL' } }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  whenOver(() => {
    http.closeAllConnections();
    http.close();
  });
  return { asked, origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
}

/** A machine whose inbox contains the given number of usage records from each source. */
function machine(counts: Readonly<Record<string, number>>) {
  const inbox = inboxOf(temporaryFolder());
  mkdirSync(inbox, { recursive: true });
  for (const [source, count] of Object.entries(counts)) {
    const uses = Array.from({ length: count }, (_, at) => ({ source, payload: { id: at, usage: { input_tokens: 1, output_tokens: 1 } } }));
    for (let at = 0; at < count; at += 1_000) writeFileSync(join(inbox, `${source}-${at}.json`), JSON.stringify(uses.slice(at, at + 1_000)));
  }
  return { env: { HOME: temporaryFolder(), COVIBE_MCP_TOKEN: 'cv_any' }, inboxes: [inbox] };
}

test("tries a few events of an agent whose usage the server rejects now, then sends the other agents' events", async () => {
  const { asked, origin } = await server(({ source }) => (source === 'codex' ? 'error' : 'ok'));
  const { env, inboxes } = machine({ codex: 8, openai: 2 });
  expect(await syncUsage(env, { origin, inboxes })).toMatchObject({ sent: 2, waiting: 8, problem: 'the server does not accept usage now (INTERNAL)' });
  expect(asked.map(({ source }) => source)).toEqual([...Array(5).fill('codex'), 'openai', 'openai']);
});

test.each(['inbox', 'store'])('a single sync sends all events in the %s exactly once, even if they do not fit into the ledger together', async (where) => {
  const { asked, origin } = await server(() => 'ok');
  const { env, inboxes } = machine(where === 'inbox' ? { openai: 1_001 } : {});
  const lines = Array.from({ length: where === 'store' ? 1_001 : 0 }, (_, at) => claudeLine(`msg_${at}`, 1));
  writeLines(transcriptPath(env.HOME), lines);
  expect(await syncUsage(env, { origin, inboxes, sources: ['claude-code'], since: 0 })).toMatchObject({ sent: 1_001, waiting: 0, problem: undefined });
  expect(new Set(asked.map(({ payload }) => payload.id)).size).toBe(asked.length);
});

test.each(['inbox', 'store'])('sends all events that waited in the %s when the server is back, however many they are', async (where) => {
  let isAway = true;
  const { asked, origin } = await server(() => (isAway ? undefined : 'ok'));
  const { env, inboxes } = machine(where === 'inbox' ? { openai: 2_400 } : {});
  const lines = Array.from({ length: where === 'store' ? 2_400 : 0 }, (_, at) => claudeLine(`msg_${at}`, 1));
  writeLines(transcriptPath(env.HOME), lines);
  const options = { origin, inboxes, sources: ['claude-code'] as const, since: 0 };
  expect(await syncUsage(env, options)).toMatchObject({ sent: 0, waiting: 1_000, problem: expect.stringMatching(/^server unreachable/) });
  [isAway, asked.length] = [false, 0];
  expect(await syncUsage(env, options)).toMatchObject({ sent: 2_400, waiting: 0, problem: undefined });
  expect(new Set(asked.map(({ payload }) => payload.id)).size).toBe(asked.length);
});

test('a stopped sync sends no more events, and the rest waits for the next sync', async () => {
  const ending = new AbortController();
  const { asked, origin } = await server(() => {
    if (asked.length === 3) ending.abort();
    return 'ok';
  });
  const { env, inboxes } = machine({ openai: 8 });
  expect(await syncUsage(env, { origin, inboxes, signal: ending.signal })).toMatchObject({
    sent: 3,
    waiting: 5,
    problem: 'stopped before everything was sent',
  });
  expect(await syncUsage(env, { origin, inboxes })).toMatchObject({ sent: 5, sent_in_all: 8, waiting: 0 });
  expect(asked).toHaveLength(8);
});
