import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { whenOver } from '../testing/scope.ts';
import { httpRequest } from './http-client.ts';

/** A server that answers every request with exactly these bytes. */
async function answering(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenOver(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const HEAD = 'HTTP/1.1 200 OK\r\nx-said: yes\r\n';
const ask = async (answer: (socket: Socket) => void, timeoutMs = 60_000) =>
  await httpRequest(await answering(answer), { method: 'POST', body: '{}', signal: AbortSignal.timeout(timeoutMs) });

it('reassembles an answer from pieces of any size, and returns a redirect as the answer', async () => {
  const pieces = `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`;
  expect(await ask((socket) => socket.write(pieces))).toMatchObject({ status: 200, headers: { 'x-said': 'yes' }, text: '{}' });
  expect(await ask((socket) => socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n'))).toMatchObject({ status: 302, text: '' });
});

it('refuses an incomplete answer', async () => {
  await expect(ask((socket) => socket.end(`${HEAD}content-length: 9\r\n\r\n{`))).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(ask((socket) => socket.end('SSH-2.0-x\r\n'))).rejects.toMatchObject({ code: expect.stringMatching(/^HPE_/) });
});

it("the signal can end the request at any time, and the error is the signal's reason or an AbortError", async () => {
  const trickle = (socket: Socket) => socket.write(`${HEAD}content-length: 9\r\n\r\n{`);
  await expect(ask(() => {}, 20)).rejects.toMatchObject({ name: 'AbortError' });
  await expect(ask(trickle, 100)).rejects.toMatchObject({ name: expect.stringMatching(/^(Timeout|Abort)Error$/) });
});

it('does not wait for a server that switches protocols or never finishes', async () => {
  expect(await ask((socket) => socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'))).toMatchObject({ status: 101, text: '' });
  const flood = (socket: Socket) => {
    const part = Buffer.alloc(8 * 1024 * 1024, ' ');
    socket.write(`${HEAD}content-length: ${10 ** 12}\r\n\r\n`);
    const more = () => {
      if (!socket.destroyed) socket.write(part, more);
    };
    more();
  };
  await expect(ask(flood)).rejects.toMatchObject({ code: 'ERR_ANSWER_TOO_LARGE' });
});
