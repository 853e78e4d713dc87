import { expect, test, vi } from 'vitest';
import { StoreBusy } from '../storage/errors.ts';
import { modern, type RelayAppOptions, relayApp } from '../testing/stand-ins/relay.ts';
import { until } from '../testing/until.ts';
import type { RelayRequest } from './call.ts';
import { type Json, UpstreamError } from './relay.ts';
import { Refusal } from './reply.ts';

const text = (said: string): Json => ({ content: [{ type: 'text', text: said }] });

/** Ana may call every tool of the other server. */
async function relayed(options: RelayAppOptions = {}) {
  const signals: AbortSignal[] = [];
  const t = await relayApp(
    {
      far_echo: async (args) => ({ ...text(String(args.text)), structuredContent: { said: args.text }, _meta: { own: 1 } }),
      far_fail: async () => ({ ...text('no such file'), isError: true }),
      far_rpc: async () => {
        throw new UpstreamError('far', { code: -32_602, message: 'bad params', data: { why: 1 } });
      },
      far_down: async () => {
        throw new Refusal('UPSTREAM_DOWN', 'far is down.', 'covenant servers logs far');
      },
      far_crash: async () => {
        throw new Error('secret inside');
      },
      far_hang: async (_args, { signal }) => {
        signals.push(signal);
        return await new Promise<Json>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
    options,
  );
  for (const name of ['echo', 'fail', 'rpc', 'down', 'crash', 'hang', 'nope'])
    await t.done('capabilities.grant', { action: `tool.call.far_${name}`, token: t.ana.tokenId });
  const usage = async () => (await t.events({ category: 'usage' })).filter(({ subject }) => !subject?.startsWith('action:'));
  const relay = (request: Partial<RelayRequest> & Pick<RelayRequest, 'noun' | 'name'>) =>
    t.dispatch.relay({
      args: { uri: 'file:///a' },
      principal: t.ana.principal,
      surface: 'mcp',
      server: 'far',
      timeoutMs: 30_000,
      work: async () => ({ contents: [] }),
      ...request,
    });
  return { ...t, signals, usage, relay };
}

test('a call is not made if its check cannot be journaled first; the check precedes the record of the call', async () => {
  const t = await relayed();
  const before = (await t.events()).length;
  vi.spyOn(t.app.store, 'append').mockRejectedValueOnce(new StoreBusy('the database cannot be reached'));
  expect((await t.call('far_echo', { text: 'hi' })).reply).toMatchObject({ code: 'STORE_BUSY' });
  expect((await t.events()).slice(before).map(({ kind }) => kind)).toEqual(['CapabilityCheck', 'far_echo']);
});

test('every call writes one usage event with server, outcome, grant and revision, digest and correlation, never arguments [gateway.journal.every-call] [gateway.journal.digest-only]', async () => {
  const t = await relayed({ timeoutMs: 50 });
  const names = ['far_echo', 'far_fail', 'far_rpc', 'far_down', 'far_crash', 'far_hang', 'far_nope', 'far_closed'];
  for (const name of names) await t.call(name, { text: 'my-secret-prompt' }, { correlation: { threadId: 'thread-1' } });
  const usage = await t.usage();
  expect(usage.map(({ kind, payload }) => [kind, payload.outcome, payload.code ?? null, payload.server ?? null])).toEqual([
    ['far_echo', 'ok', null, 'far'],
    ['far_fail', 'error_result', null, 'far'],
    ['far_rpc', 'failed', 'UPSTREAM_ERROR', 'far'],
    ['far_down', 'failed', 'UPSTREAM_DOWN', 'far'],
    ['far_crash', 'failed', 'INTERNAL', 'far'],
    ['far_hang', 'failed', 'TOOL_TIMEOUT', 'far'],
    ['far_nope', 'error', 'UNKNOWN_TOOL', null],
    ['far_closed', 'denied', 'CAPABILITY_DENIED', null],
  ]);
  for (const { kind, payload } of usage) {
    expect(payload).toMatchObject({
      arguments_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      correlation: { threadId: 'thread-1' },
      duration_ms: expect.any(Number),
      surface: 'mcp',
      token_id: t.ana.tokenId,
      grant: kind === 'far_closed' ? null : { id: expect.stringMatching(/^grant_/), revision: 1 },
    });
  }
  expect(JSON.stringify(await t.events())).not.toContain('my-secret-prompt');
  const checks = await t.events({ kind: 'CapabilityCheck' });
  expect(checks.map(({ payload }) => [payload.agent_id, payload.passed])).toEqual(names.map((name) => [`tool:${name}`, name !== 'far_closed']));
});

test('the check of a call is journaled before the call is sent to the other server', async () => {
  const t = await relayed();
  const gone = new AbortController();
  const call = t.call('far_hang', {}, { signal: gone.signal });
  await until(() => expect(t.signals).toHaveLength(1));
  expect((await t.events({ kind: 'CapabilityCheck' })).map(({ payload }) => payload.agent_id)).toEqual(['tool:far_hang']);
  expect(await t.usage()).toEqual([]);
  gone.abort();
  await call;
  expect(await t.events({ kind: 'CapabilityCheck' })).toHaveLength(1);
});

test("a server's protocol error reaches the caller unchanged; other failures name the next step and reveal nothing internal", async () => {
  const t = await relayed();
  const rpc = await t.call('far_rpc');
  expect(rpc.relayed).toEqual({ error: { code: -32_602, message: 'bad params', data: { why: 1 } } });
  expect(rpc.isError).toBe(true);
  expect((await t.call('far_down')).body).toMatchObject({ isError: true, structuredContent: { code: 'UPSTREAM_DOWN', next: 'covenant servers logs far' } });
  const crash = await t.call('far_crash');
  expect(crash.reply).toMatchObject({ code: 'INTERNAL' });
  expect(JSON.stringify(crash.body)).not.toContain('secret inside');
});

test('a call that takes too long fails and is cancelled at the other server', async () => {
  const t = await relayed({ timeoutMs: 50 });
  expect((await t.call('far_hang')).reply).toMatchObject({ code: 'TOOL_TIMEOUT' });
  expect(t.signals[0]?.aborted).toBe(true);
});

test('a caller that disconnects cancels its call at the other server', async () => {
  const t = await relayed();
  const gone = new AbortController();
  const call = t.call('far_hang', {}, { signal: gone.signal });
  await until(() => expect(t.signals).toHaveLength(1));
  gone.abort();
  expect((await call).reply).toMatchObject({ code: 'CALLER_GONE' });
  expect(t.signals[0]?.aborted).toBe(true);
  expect((await t.usage()).map(({ payload }) => [payload.outcome, payload.code])).toEqual([['failed', 'CALLER_GONE']]);
});

test('only callers who may call a tool learn that it is withheld', async () => {
  const t = await relayed();
  t.withheld.add('far_echo');
  expect((await t.call('far_echo', { text: 'hi' })).reply).toMatchObject({ code: 'TOOL_WITHHELD' });
  const ben = await t.developer('ben');
  const withheld = JSON.stringify((await t.call('far_echo', {}, { principal: ben.principal })).body);
  expect(withheld).toContain('CAPABILITY_DENIED');
  expect(JSON.stringify((await t.call('far_none', {}, { principal: ben.principal })).body)).toBe(withheld.replaceAll('far_echo', 'far_none'));
});

test('an external tool cannot be called on a path without the gateway, whatever else the caller is granted', async () => {
  const t = await relayed();
  expect((await t.call('far_echo', { text: 'hi' }, { toolsets: new Set(['team']) })).reply).toMatchObject({ code: 'UNKNOWN_TOOL' });
});

test('a call that cannot be journaled is answered with an error', async () => {
  const t = await relayed();
  const append = vi.spyOn(t.app.store, 'append');
  const original = append.getMockImplementation();
  append.mockRejectedValue(new Error('disk full'));
  const answer = await t.call('far_echo', { text: 'hi' });
  expect(answer.reply).toMatchObject({ status: 'error', code: 'INTERNAL' });
  expect(answer.relayed).toBeUndefined();
  if (original) append.mockImplementation(original);
  else append.mockRestore();
});

test('a result that asks for input is journaled as such, and passed through unchanged if no use is counted', async () => {
  const asks = { resultType: 'input_required', inputRequests: {}, requestState: 'theirs' };
  const t = await relayApp({ far_ask: async () => asks });
  await t.done('capabilities.grant', { action: 'tool.call.far_ask', token: t.ana.tokenId });
  expect((await t.call('far_ask', {}, { exchange: modern() })).relayed).toEqual({ result: asks });
  expect((await t.events({ category: 'usage', kind: 'far_ask' })).map(({ payload }) => payload.outcome)).toEqual(['input_required']);
});

test('resources and prompts pass the same gate under their own names, and every check and use is journaled', async () => {
  const t = await relayed();
  expect((await t.relay({ noun: 'resource', name: 'far' })).reply).toMatchObject({ code: 'CAPABILITY_DENIED', data: { capability: 'resource.read.far' } });
  expect((await t.relay({ noun: 'prompt', name: 'far_review' })).reply).toMatchObject({
    code: 'CAPABILITY_DENIED',
    data: { capability: 'prompt.get.far_review' },
  });
  await t.done('capabilities.grant', { action: 'resource.read.far', token: t.ana.tokenId, scope: { max_per_minute: 1 } });
  await t.done('capabilities.grant', { action: 'prompt.get.far_review', token: t.ana.tokenId });
  expect((await t.relay({ noun: 'resource', name: 'far' })).relayed).toEqual({ result: { contents: [] } });
  expect((await t.relay({ noun: 'resource', name: 'far' })).reply).toMatchObject({ data: { retry_after_ms: 60_000 } });
  const thrown = async () => {
    throw new UpstreamError('far', { code: -32_002, message: 'Resource not found' });
  };
  expect((await t.relay({ noun: 'prompt', name: 'far_review', work: thrown })).relayed).toEqual({ error: { code: -32_002, message: 'Resource not found' } });
  expect((await t.usage()).map(({ kind, subject, payload }) => [kind, subject, payload.outcome, payload.server ?? null])).toEqual([
    ['resource.read', 'resource:far', 'denied', null],
    ['prompt.get', 'prompt:far_review', 'denied', null],
    ['resource.read', 'resource:far', 'ok', 'far'],
    ['resource.read', 'resource:far', 'denied', null],
    ['prompt.get', 'prompt:far_review', 'failed', 'far'],
  ]);
  const checks = (await t.events({ kind: 'CapabilityCheck' })).map(({ payload }) => [payload.agent_id, payload.passed, payload.required_actions]);
  expect(checks).toEqual([
    ['resource:far', false, ['resource.read.far']],
    ['prompt:far_review', false, ['prompt.get.far_review']],
    ['resource:far', true, ['resource.read.far']],
    ['resource:far', false, ['resource.read.far']],
    ['prompt:far_review', true, ['prompt.get.far_review']],
  ]);
});

test('a resource that needs approval waits like a tool, and each check is journaled [audit.check.event]', async () => {
  const t = await relayed();
  await t.done('capabilities.grant', { action: 'resource.read.far', token: t.ana.tokenId, scope: { approve: true } });
  for (const decision of ['refuse', 'approve'] as const) {
    const call = t.relay({ noun: 'resource', name: 'far' });
    const [item] = await until(async () => {
      const { items } = (await t.done('approvals.list', {})) as { items: { approval_id: string; noun: string }[] };
      expect(items).toHaveLength(1);
      return items;
    });
    expect(item?.noun).toBe('resource');
    await t.done(`approvals.${decision}`, { approval_id: item?.approval_id });
    expect((await call).isError).toBe(decision === 'refuse');
  }
  const checks = (await t.events({ kind: 'CapabilityCheck' })).map(({ payload }) => [payload.passed, payload.approval ?? null]);
  expect(checks).toEqual([
    [true, 'required'],
    [true, 'required'],
    [true, null],
  ]);
  expect((await t.usage()).map(({ payload }) => [payload.outcome, payload.code ?? null])).toEqual([
    ['denied', 'APPROVAL_REFUSED'],
    ['ok', null],
  ]);
});
