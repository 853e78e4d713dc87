import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { teamApp } from '../../../testing/scenes/team.ts';
import { QueryEmbedder } from './embedder.ts';

const login = { title: 'Users are logged out after a minute', task_type: 'bug' };
const session = { title: 'Session cookie expires too soon', task_type: 'bug' };
const invoice = { title: 'Send invoices by mail', task_type: 'feature' };

/** An endpoint with OpenAI's API. Its model knows only two meanings. */
async function endpoint(answer: 'model' | 'silence' | 'failure' = 'model') {
  const asked: { authorization: string | undefined; input: string[]; model: string }[] = [];
  const behaviour = { answer };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { input, model } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[]; model: string };
    asked.push({ authorization: request.headers.authorization, input, model });
    if (behaviour.answer === 'silence') return;
    if (behaviour.answer === 'failure') return void response.writeHead(500).end();
    const data = input.map((text, index) => ({ index, embedding: /logged out|cookie/.test(text) ? [1, 0.1, 0] : [0, 0.1, 1] }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: data.reverse() }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`, asked, behaviour };
}

test('with a model, a check finds the same work in other words, and the reason names the similar meaning', async () => {
  const { url, asked } = await endpoint();
  process.env.TEST_EMBED_KEY = 'k3y';
  const app = await teamApp({ embedder: { url, model: 'm1', api_key_env: 'TEST_EMBED_KEY' } });
  const id = await app.started(login, app.ben);
  await app.started(invoice, app.ben);
  app.clock.advance(1_000);
  await expect.poll(async () => (await app.app.store.reader.selectFrom('overlap_vectors').selectAll().execute()).length).toBe(2);
  const check = await app.task('check', session);
  expect(check.data.engine).toEqual({ embedder: 'ok' });
  expect(check.data.matches).toEqual([expect.objectContaining({ id, reason: expect.stringContaining('meaning') })]);
  expect(check.data.requires_verdict).toBe(true);
  expect(asked.every(({ authorization, model }) => authorization === 'Bearer k3y' && model === 'm1')).toBe(true);
  expect(JSON.stringify([await app.events(), app.logged])).not.toContain('k3y');
});

test('a check does not wait for a slow model, and reports that it was late', async () => {
  const { url } = await endpoint('silence');
  const app = await teamApp({ embedder: { url, model: 'm1' } });
  await app.started(login, app.ben);
  expect((await app.task('check', session)).data.engine).toEqual({ embedder: 'late' });
});

test('after a failure the model is not asked for a while, and checks and starts work without it', async () => {
  const { url, asked, behaviour } = await endpoint('failure');
  const app = await teamApp({ embedder: { url, model: 'm1' } });
  expect((await app.task('check', login)).data.engine).toEqual({ embedder: 'down' });
  expect((await app.task('start', login)).status).toBe('ok');
  expect(asked).toHaveLength(1);
  app.clock.advance(1_000);
  await expect.poll(() => asked.length).toBe(2);
  behaviour.answer = 'model';
  // The sweep adds the missing vector later. Its delay begins only when it notices the failure, so the test waits until that has happened.
  await expect
    .poll(async () => {
      app.clock.advance(30_000);
      return (await app.app.store.reader.selectFrom('overlap_vectors').selectAll().execute()).length;
    })
    .toBe(1);
});

test('an item gets a new vector when its words or the model change', async () => {
  const { url } = await endpoint();
  const app = await teamApp({ embedder: { url, model: 'm1' } });
  const id = await app.planned(invoice, app.ben);
  const vectors = async () => await app.app.store.reader.selectFrom('overlap_vectors').selectAll().execute();
  app.clock.advance(1_000);
  await expect.poll(async () => (await vectors()).length).toBe(1);
  const [before] = await vectors();
  await app.task('update', { task_id: id, title: login.title }, app.ben);
  expect(await vectors()).toEqual([]);
  app.clock.advance(1_000);
  await expect.poll(async () => (await vectors()).length).toBe(1);
  expect((await vectors())[0]?.vector).not.toBe(before?.vector);
  expect((await app.task('check', session)).data.matches).toEqual([expect.objectContaining({ id })]);
  const other = await teamApp({ database: app.database, clock: app.clock, embedder: { url, model: 'm2' } });
  expect((await other.task('check', session)).data.matches).toEqual([]);
  app.clock.advance(1_000);
  await expect.poll(async () => (await vectors()).map(({ model }) => model.slice(0, 2)).sort()).toEqual(['m1', 'm2']);
  expect((await other.task('check', session)).data.matches).toEqual([expect.objectContaining({ id })]);
});

test('the number of simultaneous requests to a slow model is limited', async () => {
  let asked = 0;
  const slow = { model: 'm', close: async () => {}, embed: () => new Promise<Float32Array[]>(() => void asked++) };
  const query = new QueryEmbedder(slow, undefined, 1);
  const answers = await Promise.all(Array.from({ length: 50 }, () => query.ask({ title: 't', scope: null, description: null })));
  expect(new Set(answers.map(({ embedder }) => embedder))).toEqual(new Set(['late']));
  expect(asked).toBe(8);
});
