import { request } from 'node:http';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { contract } from '../../kernel/contract.ts';
import { ok } from '../../kernel/reply.ts';
import { type Feature, implement } from '../../kernel/tool.ts';
import { type TestApp, testApp } from '../../testing/app.ts';
import { fixtureFeature } from '../../testing/fixture.ts';
import { connected } from '../../testing/mcp-client.ts';

const lines = ({ logged }: TestApp): Record<string, unknown>[] => logged.map((line) => JSON.parse(line));

const noted = contract({
  name: 'covibe_noted',
  toolset: 'team',
  title: 'Noted',
  about: 'Logs.',
  description: 'Logs inside the transaction and outside it.',
  input: z.strictObject({ what: z.string() }),
  output: z.strictObject({ request: z.string() }),
});
const notes: Feature = {
  name: 'notes-of-a-test',
  implementations: [
    implement(noted, {
      write: async (tx, { what }, ctx) => {
        await tx.db.selectFrom('workspaces').selectAll().execute();
        ctx.log.info('inside', { what });
        // Log lines of work that continues after the call must not contain the id of the request.
        setTimeout(() => ctx.log.info('left behind', { what }), 30);
        return ok({ request: ctx.requestId });
      },
    }),
  ],
};

async function served() {
  const t = await testApp({ features: [fixtureFeature, notes] });
  const ana = await t.developer('ana');
  const { url } = await t.serve();
  const call = (tool: string, args: object) =>
    fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ana.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tool, arguments: args }),
    });
  return { t, ana, url, call };
}

test('uses one id for the response, the event in the journal and all log lines of a request', async () => {
  const { t, call } = await served();
  const answer = await call('covibe_fixture', { operation: 'change', what: 'one', fail: 'crash' });
  const id = answer.headers.get('x-request-id');
  expect(id).toMatch(/^req_/);
  expect(await answer.json()).toMatchObject({ message: expect.stringContaining(String(id)) });
  expect((await t.events({ kind: 'covibe_fixture.change' }))[0]?.payload.request_id).toBe(id);
  expect(lines(t).find(({ message }) => message === 'call failed')).toMatchObject({ level: 'error', request: id });
});

test('log lines of calls in the same commit have separate ids, and lines of work that continues after the calls have none', async () => {
  const { t, ana } = await served();
  const made = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      const { requestId } = await t.tool('covibe_noted', { what: `w${n}` }, ana);
      return [`w${n}`, requestId];
    }),
  );
  const inside = lines(t).filter(({ message }) => message === 'inside');
  expect(Object.fromEntries(inside.map(({ what, request }) => [what, request]))).toEqual(Object.fromEntries(made));
  await expect.poll(() => lines(t).filter(({ message }) => message === 'left behind').length).toBe(10);
  expect(lines(t).filter(({ message, request }) => message === 'left behind' && request !== undefined)).toEqual([]);
});

test('logs every request at level debug, without its query and without the secret of a sign-in link', async () => {
  const { t, url } = await served();
  const page = await fetch(`${url}/signin/very-secret-link?to=/very-secret-query`, { redirect: 'manual' });
  const gone = await fetch(`${url}/api/nothing?key=very-secret-query`);
  expect(gone.headers.get('x-request-id')).toMatch(/^req_/);
  await expect.poll(() => lines(t).filter(({ message }) => message === 'request').length).toBe(2);
  const logged = lines(t).filter(({ message }) => message === 'request');
  expect(logged).toEqual([
    expect.objectContaining({
      level: 'debug',
      request: page.headers.get('x-request-id'),
      method: 'GET',
      path: '/signin',
      status: expect.any(Number),
      ms: expect.any(Number),
    }),
    expect.objectContaining({ request: gone.headers.get('x-request-id'), path: '/api/nothing', status: 404 }),
  ]);
  expect(t.logged.join('')).not.toContain('very-secret');
});

test.each([
  'http://HOST/signin/very-secret',
  '/%73ignin/very-secret',
  '//signin/very-secret',
  '/Signin/very-secret',
  '/team/signin/very-secret',
  '/signin%2Fvery-secret',
])('the secret of a sign-in link appears in neither the log nor the journal if its path is spelled differently (%s)', async (path) => {
  const { t, url } = await served();
  const { host, hostname, port } = new URL(url);
  for (const method of ['GET', 'HEAD', 'POST'])
    await new Promise((resolve, reject) => {
      const asked = request({ hostname, port, method, path: path.replace('HOST', host) }, (answer) => answer.resume().once('end', resolve));
      asked.once('error', reject).end();
    });
  await expect.poll(() => lines(t).filter(({ message }) => message === 'request').length).toBe(3);
  expect(t.logged.join('')).not.toContain('very-secret');
  expect(JSON.stringify(await t.events({}))).not.toContain('very-secret');
});

test('adds the request id to the _meta of a refused MCP call, and not to that of a successful one', async () => {
  const { t, ana, url } = await served();
  const client = await connected(`${url}/mcp`, ana.token);
  const refused = await client.callTool({ name: 'covibe_fixture', arguments: { operation: 'change', what: 'one', fail: 'refuse' } });
  const [event] = await t.events({ kind: 'covibe_fixture.change' });
  expect(refused._meta).toMatchObject({ 'covenant/request_id': event?.payload.request_id });
  const fine = await client.callTool({ name: 'covibe_fixture', arguments: { operation: 'look' } });
  expect(fine._meta ?? {}).not.toHaveProperty('covenant/request_id');
});
