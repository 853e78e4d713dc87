import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { workspaceId } from '../../../kernel/ids.ts';
import { servedApp, testApp } from '../../../testing/app.ts';
import { connected, ERAS, type Era } from '../../../testing/mcp-client.ts';
import { until } from '../../../testing/until.ts';

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: { approve: boolean } };

/** A real client of an older or newer protocol revision. It can ask its user only if an `answer` is given. */
async function client(era: Era, answer?: (message: string) => Promise<Answer>) {
  const { url, ...t } = await servedApp();
  const ana = await t.developer('ana', 'codex');
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { approve: 'client' } });
  const prepare = (made: Client) => answer && made.setRequestHandler('elicitation/create', async ({ params }) => await answer(params.message));
  const options = answer ? { capabilities: { elicitation: { form: {} } } } : {};
  const mcp = await connected(`${url}/mcp`, ana.token, era, options, prepare);
  const waiting = async () => {
    const items = await until(async () => {
      const { items } = (await t.done('approvals.list', {})) as { items: { approval_id: string }[] };
      expect(items).toHaveLength(1);
      return items;
    });
    return { approval_id: items[0]?.approval_id };
  };
  return { ...t, mcp, waiting, echo: (text = 'hi', more = {}) => mcp.callTool({ name: 'echo', arguments: { text } }, more) };
}

test.each(ERAS)('a %s client that can ask its user shows the call, and the answer counts', async (era) => {
  const messages: string[] = [];
  const t = await client(era, async (message) => {
    messages.push(message);
    return message.includes('"good"') ? { action: 'accept', content: { approve: true } } : { action: 'decline' };
  });
  expect(await t.echo('good')).toMatchObject({ isError: false, content: [{ text: 'good' }] });
  expect(await t.echo('bad')).toMatchObject({ isError: true, structuredContent: { data: { code: 'APPROVAL_REFUSED' } } });
  expect(messages).toEqual([expect.stringContaining('call the tool echo?\nArguments: {"text":"good"}'), expect.stringContaining('"bad"')]);
  expect((await t.done('approvals.list', { status: 'used' })).items).toMatchObject([{ decided_by: 'ana', decided_through: 'elicitation' }]);
});

test.each(ERAS)('a %s client whose user is away waits for the operator', async (era) => {
  const t = await client(era, async () => ({ action: 'cancel' }));
  const call = t.echo();
  await t.done('approvals.approve', await t.waiting());
  expect(await call).toMatchObject({ isError: false });
});

test.each(ERAS)('a %s client that cannot ask waits for the operator and is notified that the call waits', async (era) => {
  const t = await client(era);
  const told: string[] = [];
  const call = t.echo('hi', { onprogress: ({ message }: { message?: string }) => told.push(message ?? '') });
  const waiting = await t.waiting();
  await until(() => {
    t.clock.advance(10_000);
    expect(told.length).toBeGreaterThan(0);
  });
  expect(told[0]).toContain('Waiting for a person to approve this call of echo');
  await t.done('approvals.refuse', { ...waiting, reason: 'Later.' });
  expect(await call).toMatchObject({ isError: true, structuredContent: { data: { code: 'APPROVAL_REFUSED', reason: 'Later.' } } });
});

test.each(ERAS)('a %s client that stops waiting and repeats the call finds the approval made in the meantime', async (era) => {
  const t = await client(era);
  const gone = new AbortController();
  const call = t.echo('hi', { signal: gone.signal });
  const waiting = await t.waiting();
  gone.abort();
  await expect(call).rejects.toThrow();
  await until(async () => expect((await t.events({ category: 'usage', kind: 'echo' })).map(({ payload }) => payload.code)).toEqual(['CALLER_GONE']));
  await t.done('approvals.approve', waiting);
  expect(await t.echo()).toMatchObject({ isError: false });
});

test('if a caller of /api/mcp disconnects, its call ends; when the caller repeats the call, it finds the approval', async () => {
  const { url, ...t } = await servedApp();
  const ana = await t.developer('ana');
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: ana.tokenId, scope: { approve: true } });
  const call = (signal?: AbortSignal) =>
    fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ana.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tool: 'echo', arguments: { text: 'hi' } }),
      ...(signal ? { signal } : {}),
    });
  const gone = new AbortController();
  const first = call(gone.signal);
  const { items } = (await until(async () => {
    const listed = await t.done('approvals.list', {});
    expect(listed.items).toHaveLength(1);
    return listed;
  })) as { items: { approval_id: string }[] };
  gone.abort();
  await expect(first).rejects.toThrow();
  await until(async () => expect(await t.events({ category: 'usage', kind: 'echo' })).toHaveLength(1));
  await t.done('approvals.approve', { approval_id: items[0]?.approval_id });
  expect(await (await call()).json()).toMatchObject({ isError: false });
});

test('an aborted call of the operator is recorded in the workspace in which it was made', async () => {
  const t = await testApp();
  const workspace = workspaceId('lab');
  await t.developer('ana', 'codex', workspace);
  const inLab = { principal: t.operator.principal, surface: 'cli', workspace: 'lab' } as const;
  await t.app.dispatch.action({ ...inLab, name: 'capabilities.grant', args: { action: 'tool.call.echo', scope: { approve: true } } });
  const gone = new AbortController();
  const call = t.app.dispatch.tool({ ...inLab, name: 'echo', args: { text: 'hi' }, signal: gone.signal });
  await until(async () => expect(await t.events({ kind: 'approval.requested' }, workspace)).toHaveLength(1));
  gone.abort();
  expect((await call).reply).toMatchObject({ code: 'CALLER_GONE' });
  expect(await t.events({ category: 'usage', kind: 'echo' }, workspace)).toHaveLength(1);
  expect(await t.events({ category: 'usage', kind: 'echo' })).toEqual([]);
});
