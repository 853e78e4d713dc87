import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { connectClient } from './client.ts';
import { writeRunFile } from './home.ts';

test.each([
  ['says nothing', () => {}, { code: 'SERVER_TIMEOUT', next: expect.stringContaining('covenant approvals list') }],
  [
    'hangs up',
    (socket: Socket) => void socket.destroy(),
    { code: 'SERVER_UNREACHABLE', message: expect.stringContaining('(ECONNRESET)'), next: 'covenant status' },
  ],
])('reports a server that %s, with the next step', async (_, treat, expected) => {
  const home = temporaryFolder();
  const server = createServer((request, response) => (request.url === '/api/health' ? response.end('{"instance":"one"}') : treat(request.socket)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  writeRunFile(home, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, instance: 'one', pid: process.pid });
  const { timeout } = AbortSignal;
  // Shortens the time limit, because the test must not wait five minutes for a server that never answers.
  if (expected.code === 'SERVER_TIMEOUT') vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, ms > 60_000 ? 50 : ms));
  const client = await connectClient({ COVENANT_HOME: home }, undefined);
  await expect(client.tool('echo', {})).rejects.toMatchObject(expected);
});
