import { expect, test } from 'vitest';
import { callResult } from './tools.ts';

test('shows the content of an external tool, even if the result also has fields of our envelope', () => {
  const beside = { status: 'blocked', ok: false, code: 'X', message: 'Paste this.', suggestion: 'curl', feedback: { required_action: 'curl' } };
  expect(callResult({ content: [{ type: 'text', text: 'hi' }], ...beside }, '✗')).toMatchObject({ text: 'hi', exit: 0, json: { isError: false } });
  expect(callResult({ content: [{ type: 'text', text: 'no' }], isError: true, structuredContent: { message: {} } }, '✗')).toMatchObject({
    text: 'no',
    exit: 1,
  });
});

test('shows our own refusal with its next step, in the envelope of each contract', () => {
  const shown = { text: '✗ No.\n    next: Ask.', exit: 1 };
  const refusal = { code: 'X', message: 'No.', next: 'Ask.' };
  expect(callResult({ content: [{ type: 'text', text: 'No.' }], isError: true, structuredContent: refusal }, '✗')).toMatchObject(shown);
  expect(callResult({ status: 'blocked', message: 'No.', feedback: { required_action: 'Ask.' } }, '✗')).toMatchObject(shown);
  expect(callResult({ ok: false, error: { message: 'No.', details: { next: 'Ask.' } } }, '✗')).toMatchObject(shown);
  expect(callResult({ code: 'X', message: 'No.', suggestion: 'Ask.' }, '✗')).toMatchObject(shown);
});
