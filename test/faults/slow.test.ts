import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { argumentsDigest } from '../../src/kernel/call.ts';
import { openStore } from '../../src/storage/open.ts';
import { residentBytes } from '../../src/testing/faults/leaks.ts';
import { FULL, rounds, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene } from '../../src/testing/faults/scene.ts';
import { openSocket, readAll, requestBytes } from '../../src/testing/faults/sockets.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

const MB = 1024 ** 2;
/** The number of MCP sessions to open with one token. */
const STREAMS = 6;
const READERS = FULL ? 40 : 6;
const EVENTS = FULL ? 12_000 : 5_000;
const EVENT_BYTES = 8_000;
/** The memory that one reader may use at most, for its queue, a page of the journal, and the socket buffers of the system. */
const EACH = 8 * MB;
/** The memory that everything else may use, such as pages of the store, compiled code, and garbage that was not collected yet. */
const BESIDES = 150 * MB;

/** Makes the server close the connection after the request, because the test would count an open connection as a leak. */
const CLOSED = { connection: 'close' };

const operatorToken = (home: string) => (JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')) as { token: string }).token;

/** Creates a home with a long journal. */
async function longJournal(): Promise<string> {
  const home = temporaryFolder();
  const store = await openStore({ path: join(home, 'covenant.db'), now: Date.now, statementTimeoutMs: 30_000 });
  const filler = { category: 'work' as const, kind: 'filler', actor: 'a', payload: { text: 'x'.repeat(EVENT_BYTES) } };
  for (let page = 0; page < EVENTS / 500; page++) await store.append('ws_default', Array(500).fill(filler));
  await store.close();
  return home;
}

test("followers of the journal that never read are dropped, and cost neither unlimited memory nor another caller's answer", {
  timeout: TIMEOUT_MS,
}, async () => {
  const home = await longJournal();
  const scene = await Scene.begin({ label: 'slow readers', agents: 4, at: [{ home }] });
  const { url, child } = scene.server();
  await scene.log.more(20);
  const before = residentBytes(child.pid as number);
  const readers = await Promise.all(
    Array.from({ length: READERS }, async () => {
      const socket = await openSocket(url);
      const headers = [`Host: ${new URL(url).host}`, `Authorization: Bearer ${operatorToken(home)}`, 'Connection: Upgrade', 'Upgrade: websocket'];
      const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
      socket.write(`GET /api/events?after=0 HTTP/1.1\r\n${[...headers, ...key].join('\r\n')}\r\n\r\n`);
      expect(String((await once(socket, 'data'))[0])).toContain('101 Switching');
      return socket.pause();
    }),
  );
  const followers = async () => Number(/^covenant_event_followers (\d+)/m.exec(await (await fetch(`${url}/metrics`, { headers: CLOSED })).text())?.[1]);
  await scene.log.more(100);
  expect(residentBytes(child.pid as number) - before).toBeLessThan(READERS * EACH + BESIDES);
  if (FULL) {
    await expect.poll(followers, { timeout: 60_000, interval: 500 }).toBe(0);
    // A reader can still read what is in the buffer of its socket, which is far less than the journal. After this it finds the close frame.
    for (const reader of readers) expect((await readAll(reader)).length).toBeLessThan(EVENTS * EVENT_BYTES);
  }
  for (const reader of readers) reader.destroy();
  await scene.nothingLeaked();
  await scene.judge();
});

test("clients that keep sending requests without reading the answers, and streams that nobody reads, do not fill the server's memory", {
  timeout: TIMEOUT_MS,
}, async () => {
  const scene = await Scene.begin({ label: 'unread answers', agents: 4 });
  const { url, child } = scene.server();
  const token = await scene.token('agent-0');
  await scene.log.more(20);
  const before = residentBytes(child.pid as number);
  // The script of the dashboard is used, because it is the longest answer.
  const [, script] = /src="(\/assets\/[^"]+)"/.exec(await (await fetch(url, { headers: CLOSED })).text()) ?? [];
  const askers = Array.from({ length: READERS }, async () => {
    const socket = (await openSocket(url)).pause();
    socket.write(`GET ${script} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`.repeat(300));
    return socket;
  });
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const words = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'slow', version: '1' } };
      const headers = { ...CLOSED, authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const begun = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: words }),
      });
      await begun.text();
      const session = begun.headers.get('mcp-session-id');
      expect(session).not.toBe(null);
      const socket = await openSocket(url);
      const head = [`Host: ${new URL(url).host}`, `Authorization: Bearer ${token}`, 'Accept: text/event-stream', `Mcp-Session-Id: ${session}`];
      socket.write(`GET /mcp HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
      expect(String((await once(socket, 'data'))[0])).toContain('200 OK');
      return socket.pause();
    }),
  );
  for (const _ of rounds(1)) await scene.log.more(50);
  expect(residentBytes(child.pid as number) - before).toBeLessThan(READERS * EACH + BESIDES);
  for (const socket of [...(await Promise.all(askers)), ...streams]) socket.destroy();
  await scene.nothingLeaked();
  await scene.judge();
});

test('clients that send one byte at a time are answered normally, and nobody waits for them', { timeout: TIMEOUT_MS }, async () => {
  const scene = await Scene.begin({ label: 'slow senders', agents: 4 });
  const { url } = scene.server();
  const token = await scene.token('ana');
  const send = (round: number) =>
    Array.from({ length: READERS }, async (_, one) => {
      const title = `slow-${round}-${one}`;
      const args = { kind: 'decision', title };
      const socket = (await openSocket(url)).setNoDelay(true);
      // Each byte is sent only after other clients have received answers.
      for (const [at, byte] of requestBytes(url, token, '/api/mcp', { tool: 'covibe_note', arguments: args }).entries()) {
        socket.write(Uint8Array.of(byte));
        await (at % 50 === 0 ? scene.log.more(1) : turn());
      }
      expect(await readAll(socket, (text) => text.endsWith('}'))).toContain('"status":"ok"');
      socket.destroy();
      scene.log.add('ana', { tool: 'covibe_note', fate: 'acknowledged', code: undefined, effects: [`note:${title}`, `call:${argumentsDigest(args)}`] });
    });
  for (const round of rounds(1)) await Promise.all(send(round));
  await scene.nothingLeaked();
  await scene.judge();
});
