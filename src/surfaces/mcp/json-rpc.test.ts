import { expect, test } from 'vitest';
import { servedApp } from '../../testing/app.ts';

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const MODERN = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': INITIALIZE.clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function served() {
  const { url, ...t } = await servedApp();
  const { token } = await t.developer('ana');
  const post = (body: string, headers: Record<string, string> = {}, path = '/mcp') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
  const opened = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }));
  await opened.text();
  const clients: [name: string, headers: Record<string, string>, params: object][] = [
    ['modern', { 'mcp-protocol-version': MODERN, 'mcp-method': 'nothing/like_it' }, { _meta: META }],
    ['legacy', {}, {}],
    ['legacy with a session', { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }, {}],
  ];
  return { ...t, url, token, post, clients };
}

/** The JSON-RPC message in a JSON response or in an event stream. */
async function messageOf(response: Response): Promise<unknown> {
  const text = await response.text();
  return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
}

test('answers malformed JSON with error -32700 and no id, and records it in the journal [use.mcp.json-rpc-errors]', async () => {
  const { post, clients, events } = await served();
  for (const [, headers] of clients) {
    for (const body of ['{"jsonrpc": "2.0", "id": 7, "method"', '', '[1,']) {
      const response = await post(body, headers);
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await messageOf(response)).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32700, message: expect.stringContaining('not valid JSON'), data: expect.objectContaining({ code: 'MALFORMED_REQUEST' }) },
      });
    }
  }
  expect(await events({ kind: 'malformed_request' })).toHaveLength(9);
});

test('answers an unknown method with error -32601 and the id of the request [use.mcp.json-rpc-errors]', async () => {
  const { post, clients } = await served();
  for (const [name, headers, params] of clients) {
    const response = await post(JSON.stringify({ jsonrpc: '2.0', id: 'q7', method: 'nothing/like_it', params }), headers);
    expect([name, await messageOf(response)]).toEqual([name, { jsonrpc: '2.0', id: 'q7', error: expect.objectContaining({ code: -32601 }) }]);
  }
});
