import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { storeTokens } from '../../wire/credentials.ts';
import { askHook } from './hook-answer.ts';

/** A server with two workspaces. `closed` contains the tokens whose workspace fails closed now. */
async function serverOf(closed: Set<string>) {
  let away = false;
  const server = createServer((request, response) => {
    if (away) return void request.socket.destroy();
    request.resume().on('end', () => {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      response.writeHead(200, { 'x-covenant-fail-closed': closed.has(token) ? '1' : '0' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const env = { HOME: temporaryFolder() };
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (token: string | undefined, more: NodeJS.ProcessEnv = {}) =>
    askHook({ ...env, ...more }, { origin, client: 'claude-code', event: 'before-tool', question: {}, token });
  return {
    ask,
    store: (tokens: Record<string, string>) => storeTokens(env, origin, tokens),
    async whileAway(token: string | undefined, more?: NodeJS.ProcessEnv) {
      away = true;
      const heard = await ask(token, more);
      away = false;
      return heard.kind === 'away' && heard.failClosed;
    },
  };
}

test("one workspace's fail-closed setting does not affect another workspace of the same server", async () => {
  const { ask, whileAway } = await serverOf(new Set(['cv_closed']));
  expect(await whileAway('cv_closed')).toBe(false);
  await ask('cv_closed');
  await ask('cv_open');
  expect([await whileAway('cv_closed'), await whileAway('cv_open')]).toEqual([true, false]);
});

test("a token fails closed if it has no stored answer, or if its answer is older than a workspace's change to fail-closed", async () => {
  const closed = new Set<string>();
  const { ask, store, whileAway } = await serverOf(closed);
  store({ codex: 'cv_1', gemini: 'cv_2' });
  await ask('cv_1');
  await ask('cv_2');
  closed.add('cv_1').add('cv_2');
  await ask('cv_1');
  expect([await whileAway('cv_1'), await whileAway('cv_2'), await whileAway('cv_new'), await whileAway(undefined)]).toEqual([true, true, true, true]);
  closed.clear();
  await ask('cv_1');
  await ask('cv_2');
  expect([await whileAway('cv_1'), await whileAway('cv_2'), await whileAway('cv_new')]).toEqual([false, false, false]);
});

test('the answer for a token that is neither stored nor in the environment affects no other token', async () => {
  const closed = new Set(['cv_renewed', 'cv_started_with']);
  const { ask, store, whileAway } = await serverOf(closed);
  store({ codex: 'cv_renewed' });
  await ask('cv_renewed');
  expect(await whileAway('cv_new')).toBe(true);
  store({ codex: 'cv_new' });
  expect([await whileAway('cv_new'), await whileAway(undefined)]).toEqual([false, false]);

  await ask('cv_started_with');
  await ask('cv_new');
  // The stored answer for this token is kept, although it does not count for the other tokens.
  expect([await whileAway('cv_started_with'), await whileAway('cv_new'), await whileAway('cv_other')]).toEqual([true, false, false]);
  expect(await whileAway(undefined, { COVIBE_MCP_TOKEN: 'cv_started_with' })).toBe(true);
});
