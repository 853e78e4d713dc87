import { expect, test } from 'vitest';
import type { Invocation } from '../command.ts';
import { ERROR_CODES } from '../error-codes/index.ts';
import { explainCommand } from './explain.ts';

const explained = (...positionals: string[]) => explainCommand.run({ positionals, out: { columns: Number.POSITIVE_INFINITY } } as unknown as Invocation);

test('explains the meaning, cause and next step of every error code [use.explain.code]', async () => {
  const codes = Object.entries(ERROR_CODES);
  expect(codes.length).toBeGreaterThan(0);
  for (const [code, entry] of codes) {
    const { json, text } = (await explained(code)) ?? {};
    expect(json).toEqual({ kind: 'error_code', code, ...entry });
    for (const part of [code, entry.meaning, entry.cause, entry.next]) expect(text).toContain(part);
  }
  const { json, text } = (await explained()) ?? {};
  expect(json).toEqual({ kind: 'error_code_list', items: codes.map(([code, entry]) => ({ code, ...entry })) });
  for (const [code, { meaning }] of codes) expect(text).toMatch(new RegExp(`^${code} +${meaning.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, 'm'));
});

test('suggests the nearest code for an unknown code, in upper or lower case', async () => {
  expect((await explained('task_not_found'))?.json).toMatchObject({ code: 'TASK_NOT_FOUND' });
  await expect(explained('TASK_NOT_FUND')).rejects.toMatchObject({ code: 'UNKNOWN_CODE', next: 'covenant explain TASK_NOT_FOUND' });
  await expect(explained('X')).rejects.toMatchObject({ next: 'covenant explain' });
});
