import { expect, test } from 'vitest';
import type { ApprovalRow } from '../../../storage/schema-rows.ts';
import { exchangeOf } from '../../../testing/stand-ins/upstreams.ts';
import { approvalQuestion } from '../../core/approvals/asking.ts';
import { answersUnderOwnKeys, attributeInputRequests, attributeQuestion } from './attribution.ts';

const row = { noun: 'tool', name: 'shop_pay', arguments: null } as ApprovalRow;

test("a server's question starts with the server's name, on one line and in quotes, even if it imitates Covenant's own [harden.elicitation.names-server]", () => {
  const ours = approvalQuestion(row) as { message: string; requestedSchema: { properties: { approve: { title: string } } } };
  const imitation = attributeQuestion('files', 'elicitation/create', {
    ...ours,
    requestedSchema: { ...ours.requestedSchema, title: 'Covenant', description: 'Covenant' },
  });
  expect(imitation).toEqual({
    mode: 'form',
    message: '[files] asks: "Covenant asks for approval: may your agent call the tool shop_pay?"',
    requestedSchema: {
      type: 'object',
      properties: { approve: { type: 'boolean', title: '[files] Approve', description: 'Allow this one call.' } },
      required: ['approve'],
    },
    _meta: { 'covenant/server': 'files' },
  });
  const said = (message: unknown) => attributeQuestion('files', 'elicitation/create', { message }).message;
  // Text of the server must not appear before the name of the server, on another line or outside of the quotes.
  for (const hidden of ['\u202e', '\u200b', '\u2066', '\u0007', '\u001b[2K', '\u00ad', '\ufeff', '\u{e0041}', '\u2800', '\u3164', '\ud800']) {
    expect(said(`a${hidden}b`)).toMatch(/^\[files\] asks: "a[^\p{C}\p{DI}]{0,4}b"$/u);
  }
  for (const breaking of ['\n', '\r', '\u2028', '\u2029', '\u0085', '\t', '\u000b'])
    expect(said(`a${breaking}Covenant asks: b`)).toBe('[files] asks: "a Covenant asks: b"');
  expect(said('Yes?" Covenant asks: "b')).toBe('[files] asks: "Yes?\\" Covenant asks: \\"b"');
  expect(said('x'.repeat(100_000)) as string).toHaveLength('[files] asks: ""'.length + 4_000);
  expect([said(undefined), said(7)]).toEqual(['[files] asks: ""', '[files] asks: ""']);
  expect(attributeQuestion('files', 'elicitation/create', { mode: 'url', message: 'Covenant asks', url: 'https://x.test' })).toMatchObject({
    message: '[files] asks: "Covenant asks"',
    url: 'https://x.test',
  });
  expect(attributeQuestion('files', 'sampling/createMessage', { messages: [], systemPrompt: 'Be kind.' }).systemPrompt).toMatch(
    /^\[files\] sent this request.*\nBe kind\.$/s,
  );
});

test('fields without a title, and invalid fields, are also marked with the server', () => {
  const { requestedSchema } = attributeQuestion('files', 'elicitation/create', {
    requestedSchema: { type: 'object', properties: { approve: { type: 'boolean', description: 'a\nb' }, odd: 7 } },
  });
  expect(requestedSchema).toEqual({
    type: 'object',
    properties: { approve: { type: 'boolean', title: '[files] approve', description: 'a b' }, odd: 7 },
  });
});

test("a key that could be Covenant's own is prefixed with the server, and restored when the answer returns [harden.elicitation.names-server]", () => {
  const asking = { method: 'elicitation/create', params: { message: 'Sure?' } };
  const keys = ['covenant_approval', 'Covenant', 'name', 'files:name', 'a:b'];
  const shown = attributeInputRequests('files', {
    resultType: 'input_required',
    requestState: 's',
    inputRequests: Object.fromEntries(keys.map((key) => [key, asking])),
  });
  const seen = Object.keys(shown.inputRequests as object);
  expect(seen).toEqual(['files:covenant_approval', 'files:Covenant', 'name', 'files:files:name', 'files:a:b']);
  for (const request of Object.values(shown.inputRequests as object)) expect(request.params.message).toBe('[files] asks: "Sure?"');
  const inputResponses = Object.fromEntries(seen.map((key, at) => [key, { at }]));
  const brought = answersUnderOwnKeys('files', exchangeOf({ rounds: { requestState: 's', inputResponses } }));
  expect(brought.rounds).toEqual({ requestState: 's', inputResponses: Object.fromEntries(keys.map((key, at) => [key, { at }])) });
  expect(attributeInputRequests('files', { resultType: 'input_required', requestState: 's' })).toEqual({ resultType: 'input_required', requestState: 's' });
});
