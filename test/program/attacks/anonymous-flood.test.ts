import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { residentBytes } from '../../../src/testing/faults/leaks.ts';
import { covenant, direct, startProgram } from '../../../src/testing/programs/program.ts';
import { postSignIn } from '../../../src/testing/scenes/signin.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

const ROUNDS = process.env.COVENANT_PROVE === '1' ? 200 : 6;
const CONNECTIONS = 64;
const MEMORY = 400 * 1024 * 1024;

/** Returns a body that needs twenty times its size in memory when it is parsed. */
const objects = (bytes: number): Buffer => Buffer.from(`[${'{},'.repeat(Math.floor(bytes / 3) - 1)}{}]`);
const ATTACKS = [
  { path: '/mcp', body: objects(8 * 1024 * 1024) },
  { path: '/api/hooks/claude-code/stop', body: objects(8 * 1024 * 1024) },
  { path: '/api/mcp', body: objects(64 * 1024) },
  { path: '/api/setup/device', body: objects(4 * 1024) },
  { path: '/api/setup/device/poll', body: objects(8 * 1024 * 1024) },
];

function send(url: string, body: Buffer, agent: Agent): Promise<number | 'cut'> {
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume();
      answer.once('close', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', () => resolve('cut'));
    sent.end(body);
  });
}

test('64 connections sending maximum bodies without a token are refused, the server stays below 400 MB, and agents are served meanwhile', {
  timeout: 60_000 + ROUNDS * 5_000,
}, async () => {
  const at = { home: temporaryFolder(), env: { NODE_OPTIONS: '--max-old-space-size=768' } };
  const server = await startProgram(at);
  const { token } = (await covenant(at, 'tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json')).json;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let most = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const flood = Array.from({ length: CONNECTIONS }, (_, index) => {
      const { path, body } = ATTACKS[(round + index) % ATTACKS.length] as (typeof ATTACKS)[number];
      return send(`${server.url}${path}`, body, agent);
    });
    expect((await direct(server.url, String(token), 'clock', {})).body).toMatchObject({ structuredContent: { epoch_ms: expect.any(Number) } });
    const answers = await Promise.all(flood);
    expect(answers.filter((status) => status !== 'cut' && ![400, 401, 413, 429, 503].includes(status))).toEqual([]);
    most = Math.max(most, residentBytes(server.child.pid as number));
  }
  agent.destroy();
  expect(most).toBeLessThan(MEMORY);
});

test('300 connections that start a body and stall do not prevent others from signing in, setting up a device or calling', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const { token } = (await covenant(at, 'tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json')).json;
  const { hostname, port, host } = new URL(server.url);
  const stalled = Array.from({ length: 280 }, (_, index) => {
    const socket = connect(Number(port), hostname);
    const headers = `host: ${host}\r\ncontent-type: application/json\r\ncontent-length: 65536\r\n`;
    // Some connections are authenticated, because one token must not block others either.
    const known = index % 4 === 0 ? `authorization: Bearer ${token}\r\n` : '';
    socket.on('error', () => {});
    socket.write(`POST /api/mcp HTTP/1.1\r\n${headers}${known}\r\n${'x'.repeat(65_000)}`);
    return socket;
  });
  await Promise.all(stalled.map((socket) => once(socket, 'connect')));
  await once(stalled.at(-1) as Socket, 'data');
  const post = (path: string, body: object) => fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  expect((await post('/api/setup/device', { machine_name: 'm', agents: ['codex'] })).status).toBe(200);
  expect((await postSignIn(server.signinUrl)).status).toBe(200);
  expect(await covenant(at, 'tokens', 'list')).toMatchObject({ code: 0 });
  for (const socket of stalled) socket.destroy();
});
