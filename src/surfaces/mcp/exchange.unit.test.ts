import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import type { ServerContext } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import type { Json, RelayContext } from '../../kernel/relay.ts';
import { servedApp } from '../../testing/app.ts';
import { connected, ERAS, type Era } from '../../testing/mcp-client.ts';
import { fakeUpstreams } from '../../testing/stand-ins/fake-upstreams.ts';
import { until } from '../../testing/until.ts';
import { exchangeOf } from './exchange.ts';

const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const said = (result: unknown) => JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? 'null');

/** Connects a client of this era with an external server. The test defines how the tool of that server behaves. */
async function calling(era: Era, work: (args: Json, ctx: RelayContext) => Promise<Json>, options?: ClientOptions, prepare?: (client: Client) => void) {
  const fake = fakeUpstreams();
  fake.tools.set('alpha_tool', { work });
  const { url, ...made } = await servedApp({ upstreams: fake.create });
  const ana = await made.developer('ana');
  await made.done('capabilities.grant', { action: 'tool.call.alpha_tool', developer: 'ana' });
  const client = await connected(`${url}/mcp`, ana.token, era, options, prepare);
  return { ...made, url: `${url}/mcp`, fake, ana, client };
}
const call = { name: 'alpha_tool', arguments: {} };

test.each(ERAS)('passes progress of an external server to a %s client, with the progress token of that client', async (era) => {
  const { client } = await calling(era, async (_args, { exchange }) => {
    for (const progress of [1, 2, 3]) exchange?.progress?.({ progress, total: 3, progressToken: 'theirs' });
    return text(exchange?.progress !== undefined);
  });
  const seen: number[] = [];
  expect(said(await client.callTool(call, { onprogress: ({ progress }) => seen.push(progress) }))).toBe(true);
  expect(seen).toEqual([1, 2, 3]);
  expect(said(await client.callTool(call))).toBe(false);
});

test.each(ERAS)('passes log messages of an external server to a %s client, from the level that the client chose', async (era) => {
  const { client } = await calling(era, async (_args, { exchange }) => {
    for (const level of ['debug', 'info', 'warning', 'error']) exchange?.log?.send({ level, data: level });
    return text(exchange?.log?.level ?? null);
  });
  const seen: unknown[] = [];
  client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params.data));
  if (era === 'legacy') await client.setLoggingLevel('warning');
  else expect(said(await client.callTool(call))).toBe(null);
  const asked = era === 'modern' ? { ...call, _meta: { 'io.modelcontextprotocol/logLevel': 'warning' } } : call;
  expect(said(await client.callTool(asked))).toBe('warning');
  expect(seen).toEqual(['warning', 'error']);
});

const elicits = (answer: string) => (client: Client) =>
  client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: 'accept', content: { answer: `${params.message} ${answer}` } }));
const question = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } } };

test.each(ERAS)(
  'requests from a %s client the input that a server of the newer revision requires, and returns it to the server with its state',
  async (era) => {
    const rounds: unknown[] = [];
    const work = async (_args: Json, { exchange }: RelayContext): Promise<Json> => {
      rounds.push(exchange?.rounds);
      const { inputResponses, requestState } = exchange?.rounds ?? {};
      if (inputResponses?.sure) return text([inputResponses.sure, requestState]);
      return { resultType: 'input_required', inputRequests: { sure: { method: 'elicitation/create', params: question } }, requestState: 'state of alpha' };
    };
    const { client } = await calling(era, work, { capabilities: { elicitation: { form: {} } } }, elicits('yes'));
    expect(said(await client.callTool(call))).toEqual([{ action: 'accept', content: { answer: 'Sure? yes' } }, 'state of alpha']);
    expect(rounds).toHaveLength(2);
  },
);

test('passes elicitation, sampling and roots requests of an older server to a legacy client during a call', async () => {
  const work = async (_args: Json, { exchange, signal }: RelayContext): Promise<Json> => {
    const sampled = await exchange?.ask?.('sampling/createMessage', { messages: [], maxTokens: 5 }, signal);
    const roots = await exchange?.ask?.('roots/list', {}, signal);
    return text([exchange?.capabilities, await exchange?.ask?.('elicitation/create', question, signal), sampled?.model, roots?.roots]);
  };
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  const { client } = await calling('legacy', work, { capabilities }, (asked) => {
    elicits('yes')(asked);
    asked.setRequestHandler('sampling/createMessage', async () => ({ role: 'assistant', content: { type: 'text', text: 'hm' }, model: 'small' }));
    asked.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///here' }] }));
  });
  const [declared, elicited, model, roots] = said(await client.callTool(call));
  expect(declared).toMatchObject(capabilities);
  expect([elicited.content.answer, model, roots]).toEqual(['Sure? yes', 'small', [{ uri: 'file:///here' }]]);
});

test('sends a client only requests that it declared support for, and sends no requests to a client without a session', async () => {
  const work = async (_args: Json, { exchange, signal }: RelayContext): Promise<Json> => {
    const refused = await exchange?.ask?.('roots/list', {}, signal).catch((error: { code: string }) => error.code);
    return text([refused ?? null, exchange?.rounds !== undefined, exchange?.capabilities]);
  };
  const { client, url, ana } = await calling('legacy', work, { capabilities: {} });
  expect(said(await client.callTool(call))).toEqual(['INPUT_REQUIRED', true, {}]);
  const modern = await connected(url, ana.token, 'modern', { capabilities: { sampling: {} } });
  expect(said(await modern.callTool(call))).toEqual([null, true, { sampling: {} }]);
  const headers = { authorization: `Bearer ${ana.token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  const single = await (await fetch(url, { method: 'POST', headers, body })).text();
  expect(said(JSON.parse(/^data: (.*)$/m.exec(single)?.[1] ?? '').result)).toEqual([null, false, {}]);
});

test.each(ERAS)('passes on the trace context of a %s client, and no other metadata', async (era) => {
  const { client } = await calling(era, async (_args, { exchange }) => text(exchange?.meta));
  const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b', baggage: 'c=d' };
  expect(said(await client.callTool({ ...call, _meta: { ...meta, other: 'x' } }))).toEqual(meta);
});

test.each(ERAS)('cancels the call at the external server when a %s client cancels it', async (era) => {
  const ended = vi.fn();
  const started = Promise.withResolvers<void>();
  const { client } = await calling(era, (_args, { signal }) => {
    started.resolve();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        ended();
        reject(signal.reason);
      });
    });
  });
  const cancel = new AbortController();
  const result = client.callTool(call, { signal: cancel.signal });
  await started.promise;
  cancel.abort();
  await expect(result).rejects.toThrow();
  await until(() => expect(ended).toHaveBeenCalledOnce());
});

test('limits the notifications of one call, however many the external server sends', () => {
  const sent: unknown[] = [];
  const notify = async (notification: unknown) => void sent.push(notification);
  const mcpReq = { _meta: { progressToken: 1 }, notify, requestState: () => undefined };
  const { progress } = exchangeOf({ mcpReq } as unknown as ServerContext, 'modern', undefined);
  const message = 'x'.repeat(1024 * 1024);
  for (let times = 0; times < 50; times++) progress?.({ progress: times, message });
  expect(sent).toHaveLength(15);
});
