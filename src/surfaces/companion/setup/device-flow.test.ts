import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { servedApp } from '../../../testing/app.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { tokensFrom } from '../../../wire/credentials.ts';
import { askForTokens, type DeviceCode } from './device-flow.ts';
import { identityFromTokens } from './tokens.ts';

/** A machine whose pauses advance the server's clock instead of waiting. `during` runs after each pause. */
async function machine(during: (code: string, pause: number) => Promise<unknown>, agents = ['claude-code', 'codex']) {
  const { url, ...t } = await servedApp();
  await t.developer('ana');
  const pauses: number[] = [];
  const shown: DeviceCode[] = [];
  const tokens = askForTokens({
    origin: url,
    agents,
    show: (code) => shown.push(code),
    pause: async (ms) => {
      t.clock.advance(ms);
      await during(shown[0]?.code ?? '', pauses.push(ms));
    },
  });
  const approve = (code: string) => t.done('devices.approve', { code, developer: 'ana' });
  return { t, url, tokens, pauses, shown, approve };
}

/** A server that gives these answers. For `undefined`, it breaks the connection instead. */
async function serverThatAnswers(answers: (object | undefined)[]): Promise<{ origin: string }> {
  const server = createServer((request, response) => {
    const answer = answers.shift();
    if (answer === undefined) request.socket.destroy();
    else response.end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('shows a code, and stores a valid token for each agent after the code is approved', async () => {
  const m = await machine((code) => m.approve(code));
  const { developer, tokens } = await m.tokens;
  expect(m.shown).toEqual([{ code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/), uri: `${m.url}/setup/authorize` }]);
  expect([developer, Object.keys(tokens)]).toEqual(['ana', ['claude-code', 'codex']]);
  expect(m.pauses).toEqual([5_000]);
  for (const token of Object.values(tokens)) expect(await m.t.app.authenticate(token, 'bearer')).toHaveProperty('principal');
});

test('a machine that the server tells to slow down waits longer between its polls', async () => {
  const m = await machine(async (code, pause) => {
    // The machine's clock runs fast, so for the server the second poll comes too early.
    if (pause === 2) m.t.clock.advance(-5_000);
    if (pause === 3) await m.approve(code);
  });
  await m.tokens;
  expect(m.pauses).toEqual([5_000, 5_000, 10_000]);
});

test('reports the reason and the next step when a request is rejected or expires', async () => {
  const refused = await machine((code) => refused.t.done('devices.refuse', { code }));
  await expect(refused.tokens).rejects.toMatchObject({ code: 'DEVICE_DENIED', next: expect.stringContaining('`covibe-local setup` again') });

  const late = await machine(async () => undefined);
  await expect(late.tokens).rejects.toMatchObject({ code: 'DEVICE_EXPIRED', next: expect.stringContaining('`covibe-local setup` again') });

  const taken = await machine(async (code) => {
    await taken.approve(code);
    await taken.t.app.store.write('default', async (tx) => void (await tx.db.updateTable('device_grants').set({ status: 'consumed' }).execute()));
  });
  await expect(taken.tokens).rejects.toMatchObject({ code: 'DEVICE_CONSUMED', next: expect.stringContaining('Revoke') });
});

test('accepts only well-formed tokens for the requested agents', async () => {
  const asked = { device_code: 'd', user_code: 'BQPX-FGQR', verification_uri: 'http://x/setup/authorize', expires_in: 600, interval: 5 };
  const deliveredAs = async (tokens: unknown) => {
    const { origin } = await serverThatAnswers([asked, { status: 'approved', developer: 'ana', tokens }]);
    return (await askForTokens({ origin, agents: ['codex', 'cursor'], show: () => undefined, pause: async () => undefined })).tokens;
  };
  expect(await deliveredAs({ codex: 'cv_1', cursor: 'cv_2 x', gemini: 'cv_3' })).toEqual({ codex: 'cv_1' });
  expect(await deliveredAs({ codex: 1 })).toEqual({});
  expect(await deliveredAs(undefined)).toEqual({});
});

test('stores the tokens that arrived, and fails for the missing ones', async () => {
  const env = { HOME: temporaryFolder() };
  const asked = { device_code: 'd', user_code: 'BQPX-FGQR', verification_uri: 'http://x/setup/authorize', expires_in: 600, interval: 1 };
  const { origin } = await serverThatAnswers([asked, { status: 'approved', developer: 'ana', tokens: { codex: 'cv_1' } }]);
  await expect(identityFromTokens(env, origin, ['codex', 'cursor'], () => undefined)).rejects.toMatchObject({
    code: 'TOKENS_MISSING',
    message: expect.stringMatching(/for cursor\. 1 token stored \(codex\)/),
    next: expect.stringContaining('`covibe-local setup` again'),
  });
  expect(tokensFrom(env, origin)).toEqual({ codex: 'cv_1' });
});

test('a connection that breaks during the approval delays the tokens but does not prevent them', async () => {
  const asked = { device_code: 'd', user_code: 'BQPX-FGQR', verification_uri: 'http://x/setup/authorize', expires_in: 600, interval: 5 };
  const { origin } = await serverThatAnswers([asked, undefined, { status: 'approved', developer: 'ana', tokens: { codex: 'cv_1' } }]);
  const pauses: number[] = [];
  const delivered = await askForTokens({ origin, agents: ['codex'], show: () => undefined, pause: async (ms) => pauses.push(ms) });
  expect([delivered, pauses]).toEqual([{ developer: 'ana', tokens: { codex: 'cv_1' } }, [5_000, 5_000]]);
});

test("repeats the server's own refusal, and reports a server that is not a Covenant server", async () => {
  await expect((await machine(async () => undefined, ['emacs'])).tokens).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('agents'),
  });
  const nothing = askForTokens({ origin: 'http://127.0.0.1:9', agents: ['codex'], show: () => undefined });
  await expect(nothing).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE', message: expect.stringContaining('Nothing was changed') });
});
