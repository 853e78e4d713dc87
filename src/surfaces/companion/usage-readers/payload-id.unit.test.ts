import { expect, test } from 'vitest';
import { idOf, idWithin } from './payload-id.ts';

const usage = { input_tokens: 10, output_tokens: 5 };
const span = (more: object) => ({ resourceSpans: [{ resource: { attributes: { id: 'host' } }, scopeSpans: [{ spans: [{ attributes: {}, ...more }] }] }] });
const traced = { traceId: '5b8a', spanId: '0e1f' };

test.each([
  ...['id', 'uuid', 'request_id', 'requestId', 'requestID', 'request-id', 'response_id', 'responseId', 'message_id', 'message_uuid', 'gen_ai.response.id'].map(
    (key) => ({ [key]: 'x', usage }),
  ),
  { id: 7, usage },
  { message: { id: 'msg_1', usage } },
  { type: 'response.completed', response: { id: 'resp_1', usage } },
  { direct_counts: [usage, { ...usage, request_id: 'x' }] },
  { attributes: { 'gen_ai.response.id': 'resp_1' } },
  span(traced),
  span({ trace_id: '5b8a', span_id: '0e1f' }),
  span({ attributes: [{ key: 'gen_ai.response.id', value: { stringValue: 'resp_1' } }] }),
  span({ endTimeUnixNano: '1700000000000000001' }),
  { resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: '1700000000000000001' }] }] }] },
  { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ sum: { dataPoints: [{ timeUnixNano: 1_700_000_000 }] } }] }] }] },
])('finds the id of a use: %j', (payload) => {
  expect(idWithin(payload)).toBeDefined();
});

test.each([
  ...['user_id', 'model_id', 'session_id', 'session.id', 'conversation_id', 'organizationId', 'traceId', 'spanId'].map((key) => ({ [key]: 'x', usage })),
  { id: '', uuid: null, request_id: {}, usage },
  { metadata: { id: 'ana' }, user: { id: 'ana' }, usage },
  span({}),
  span({ traceId: '0000', spanId: '0000' }),
  span({ startTimeUnixNano: '1700000000000000001', endTimeUnixNano: '0' }),
])('finds no id in a payload whose ids do not identify a single use: %j', (payload) => {
  expect(idWithin(payload)).toBeUndefined();
});

test('the ids of two objects differ if the name or the value of their id field differs', () => {
  const ids = [{ id: 'a' }, { id: 'b' }, { uuid: 'a' }, { id: 'a', uuid: 'a' }].map(idOf);
  expect(new Set(ids).size).toBe(4);
  expect(idOf({ ID: 'a', user: 'ana' })).toBe(ids[0]);
});

test('limits the depth at which it searches nested objects for an id', () => {
  let payload: Record<string, unknown> = { id: 'x' };
  for (let depth = 0; depth < 100_000; depth++) payload = { payload };
  expect(idWithin(payload)).toBeUndefined();
});
