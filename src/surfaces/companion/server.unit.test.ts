import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { tokenState } from './server.ts';

test.each([
  [200, { state: 'accepted', failClosed: true }],
  [401, { state: 'refused' }],
  [429, { state: 'unreachable', reason: 'HTTP 429' }],
  [503, { state: 'unreachable', reason: 'HTTP 503' }],
])('the HTTP status %i of the server gives the token state %j, and only 200 means that it is accepted', async (status, state) => {
  const server = createServer((_, response) => response.writeHead(status, { 'x-covenant-fail-closed': '1' }).end('{}')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  expect(await tokenState(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'cv_1')).toEqual(state);
});
