import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorReference, messagesIn, messagesInSource } from '../scripts/error-reference.ts';
import { ERROR_CODE_GROUPS, ERROR_CODES } from '../src/surfaces/cli/error-codes/index.ts';

const messages = messagesInSource();

test('every error code in the source has exactly one entry in the reference, and every entry belongs to a code [use.docs.error-codes]', () => {
  const entries = Object.values(ERROR_CODE_GROUPS).flatMap((codes) => Object.keys(codes));
  expect(entries.filter((code, at) => entries.indexOf(code) !== at)).toEqual([]);
  const used = new Set(messages.map(({ code }) => code));
  expect([...used].filter((code) => !(code in ERROR_CODES)).sort()).toEqual([]);
  expect(entries.filter((code) => !used.has(code))).toEqual([]);
});

test('each entry explains the meaning, the cause and the next step in full sentences', () => {
  for (const [code, { meaning, cause, next }] of Object.entries(ERROR_CODES))
    for (const text of [meaning, cause, next]) expect([code, text]).toEqual([code, expect.stringMatching(/^\S.{9,}\.$/)]);
});

test('a message shows the text that its names have where it is given, and every other name as a value of the moment', () => {
  const source = `
    const AGAIN = 'Call again.';
    const next = 'Text of the file.';
    const refuse = (message: string, next: string) => refusal(400, 'FIRST', message, AGAIN + next);
    function second(port: number, { path }: Place) {
      if (port === 1) {
        const next = \`covenant up --port \${config.port + 1}\`;
        throw new Refusal('SECOND_CODE', \`\${path} uses \${port} \${port === 1 ? 'port' : 'ports'}.\`, next);
      }
      throw new Refusal('THIRD_CODE', later(path), next);
    }
    const later = (path: string) => \`\${path} is gone.\`;
  `;
  expect(messagesIn('a.ts', source)).toEqual([
    { code: 'FIRST', file: 'a.ts', message: '{message}', next: 'Call again.{next}' },
    { code: 'SECOND_CODE', file: 'a.ts', message: '{path} uses {port} ports.', next: 'covenant up --port {config port + 1}' },
    { code: 'THIRD_CODE', file: 'a.ts', message: '{path} is gone.', next: 'Text of the file.' },
  ]);
});

test('docs/errors.md matches the source [use.docs.generated]', () => {
  expect(readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8')).toBe(errorReference());
});
