import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { StoreBusy } from '../../storage/errors.ts';
import type { JournalEvent } from '../../storage/journal.ts';
import { servedApp, testApp } from '../../testing/app.ts';
import { until } from '../../testing/until.ts';
import { CLOSE_SLOW } from './upgrade.ts';

/** Collects events until `enough` of them have arrived. */
async function follow(url: string, after: number, token: string, enough: number, more: Record<string, string> = {}): Promise<JournalEvent[]> {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/api/events?after=${after}`, { headers: { authorization: `Bearer ${token}`, ...more } });
  const seen: JournalEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    ws.on('message', (data) => {
      seen.push(JSON.parse(String(data)) as JournalEvent);
      if (seen.length >= enough) resolve();
    });
    ws.on('error', reject);
    ws.on('close', (code) => reject(new Error(`closed with ${code}`)));
  });
  ws.removeAllListeners('close');
  ws.terminate();
  return seen;
}

test('sends one exported event per message on /api/events, with all its fields [transport.events.websocket]', async () => {
  const { developer, events, url } = await servedApp();
  const ana = await developer('ana');
  const all = await events();
  expect(await follow(url, 0, ana.token, all.length)).toEqual(all);
});

test('sends every event after the given seq exactly once, while others write [transport.events.resume]', async () => {
  const here = await testApp();
  const there = await testApp({ database: here.database });
  const { url } = await here.serve();
  const ana = await here.developer('ana');
  const start = (await here.events()).length;
  const writing = (async () => {
    for (let round = 0; round < 20; round++) {
      await Promise.all([here, there, here, there].map(({ tool }) => tool('clock', {}, ana)));
    }
  })();
  const total = start + 20 * 4 * 2;
  const seen: number[] = [];
  while (seen.length < total) {
    const part = await follow(url, seen.at(-1) ?? 0, ana.token, Math.min(37, total - seen.length));
    seen.push(...part.map((event) => event.seq));
  }
  await writing;
  expect(seen).toEqual(Array.from({ length: total }, (_, index) => index + 1));
});

test('reads a page of events again for the next socket if the first read fails', async () => {
  const { app, developer, events, url } = await servedApp();
  const ana = await developer('ana');
  const all = await events();
  const stop = new AbortController();
  const other = app.store.follow(ana.principal.workspace, 0, stop.signal);
  expect((await other.next()).value).toHaveLength(all.length);
  const { reader } = app.store;
  const selectFrom = reader.selectFrom.bind(reader) as (table: unknown) => never;
  let failures = 0;
  vi.spyOn(reader, 'selectFrom').mockImplementation((table: unknown) => {
    if (table === 'developers' && failures++ === 0) throw new StoreBusy('the database cannot be reached');
    return selectFrom(table);
  });
  await expect(follow(url, 0, ana.token, all.length)).rejects.toThrow('closed with 1011');
  expect(await follow(url, 0, ana.token, all.length)).toEqual(all);
  stop.abort();
});

test('refuses a socket without a credential, from a foreign origin or with an invalid position', async () => {
  const { operator, url } = await servedApp();
  const attempt = async (path: string, headers: Record<string, string>) => {
    const ws = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
    const [error] = (await once(ws, 'error')) as [Error];
    return error.message;
  };
  const bearer = { authorization: `Bearer ${operator.token}` };
  expect(await attempt('/api/events', {})).toContain('401');
  expect(await attempt('/api/events', { ...bearer, origin: 'https://evil.example' })).toContain('403');
  expect(await attempt('/api/events?after=-1', bearer)).toContain('400');
  expect(await attempt('/api/events?after=x', bearer)).toContain('400');
  expect(await attempt('/api/elsewhere', bearer)).toContain('404');
  expect(await attempt('//', bearer)).toContain('404');
});

test('lets only the operator name a workspace to follow, which must exist', async () => {
  const { developer, events, operator, url } = await servedApp();
  const zoe = await developer('zoe', undefined, 'ws_beta');
  const there = await events({}, 'ws_beta');
  expect(await follow(url, 0, operator.token, there.length, { 'x-covenant-workspace': 'beta' })).toEqual(there);
  await expect(follow(url, 0, zoe.token, 1, { 'x-covenant-workspace': 'default' })).rejects.toThrow('403');
  await expect(follow(url, 0, operator.token, 1, { 'x-covenant-workspace': '../x' })).rejects.toThrow('400');
  await expect(follow(url, 0, operator.token, 1, { 'x-covenant-workspace': 'nowhere' })).rejects.toThrow('404');
});

test('disconnects a reader whose credential was revoked before it gets another event', async () => {
  const { developer, done, events, tool, url } = await servedApp();
  const [ana, ben] = [await developer('ana'), await developer('ben')];
  const ws = new WebSocket(`${url.replace('http', 'ws')}/api/events?after=0`, { headers: { authorization: `Bearer ${ana.token}` } });
  const seen: JournalEvent[] = [];
  ws.on('message', (data) => seen.push(JSON.parse(String(data)) as JournalEvent));
  const before = (await events()).length;
  await until(() => expect(seen.length).toBe(before));
  const closed = once(ws, 'close');
  await done('tokens.revoke', { token_id: ana.tokenId });
  await tool('clock', {}, ben);
  expect((await closed)[0]).toBe(4401);
  expect(seen.length).toBe(before);
});

test('closes the socket of a reader that does not read with code 4408, instead of buffering without limit', async () => {
  const { app, operator, serve } = await testApp();
  const { url } = await serve({ stalledMs: 100 });
  // Together, these events are larger than both socket buffers and the high-water mark, so data waits for the reader.
  const filler = { text: 'x'.repeat(8_000) };
  for (let batch = 0; batch < 20; batch++) {
    await app.store.append(
      operator.principal.workspace,
      Array.from({ length: 100 }, () => ({ category: 'work' as const, kind: 'filler', actor: 'a', payload: filler })),
    );
  }
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /api/events?after=0 HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${operator.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  socket.once('data', () => socket.pause());
  const dropped = once(socket, 'close');
  const followers = async () => /^covenant_event_followers (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
  await until(async () => expect(await followers()).toBe('1'));
  await until(async () => expect(await followers()).toBe('0'));
  // The client now gets the data that the server had already sent, and then the close frame.
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.resume();
  await dropped;
  const sent = Buffer.concat(chunks);
  expect(sent.length).toBeLessThan(20 * 100 * 8_000);
  expect(CLOSE_SLOW).toBe(4408);
  expect(sent.includes(Buffer.from([0x11, 0x38]))).toBe(true);
});
