import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { whenOver } from '../../testing/scope.ts';
import { boundPipelining } from './entrance.ts';

/** Creates a server that sends no response until the test allows it. Also returns the requests that the server received. */
async function listening(): Promise<{ port: number; answer: (() => void)[] }> {
  const answer: (() => void)[] = [];
  const server = createServer(boundPipelining((_, outgoing) => void answer.push(() => outgoing.end('answer'))));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenOver(() => server.close());
  return { port: (server.address() as AddressInfo).port, answer };
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

test('answers sixteen pipelined requests, and then sixteen more', async () => {
  const { port, answer } = await listening();
  const socket = connect(port);
  whenOver(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  const answers = () => text.split('HTTP/1.1 200').length - 1;
  for (const round of [1, 2]) {
    socket.write(GET.repeat(16));
    await expect.poll(() => answer.length).toBe(16);
    for (const one of answer.splice(0)) one();
    await expect.poll(answers).toBe(16 * round);
  }
});

test('closes a connection that pipelines a seventeenth request, and starts neither this request nor the following ones', async () => {
  const { port, answer } = await listening();
  const socket = connect(port);
  socket.on('error', () => {});
  socket.write(GET.repeat(200));
  await once(socket.resume(), 'close');
  expect(answer.length).toBe(16);
});
