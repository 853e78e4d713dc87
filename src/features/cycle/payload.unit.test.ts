import { expect, test } from 'vitest';
import { Refusal } from '../../kernel/reply.ts';
import { requirePayload } from './payload.ts';

const DIRECTION = { cycle_id: '20260220T215622Z_featureX', feature: 'featureX', producer: 'gemini', consumer: 'codex' };
const LISTS = { files_modified: [], endpoints: [], data_shapes: [], assumptions: [], todos: [], notes: [] };
const GOOD = { ...DIRECTION, ...LISTS };

/** Returns the fields for which a payload is refused. The list is empty if the payload is accepted. */
function refusedFields(payload: unknown, secrets: readonly string[] = []): string[] {
  try {
    requirePayload(payload, DIRECTION, secrets);
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error).toMatchObject({ code: 'INVALID_INPUT', next: expect.stringMatching(/./) });
    const fields = (error.details.issues as { field: string }[]).map(({ field }) => field);
    expect(error.details.field).toBe(fields[0]);
    return fields;
  }
}
const without = (field: string) => Object.fromEntries(Object.entries(GOOD).filter(([name]) => name !== field));

test.each(Object.keys(DIRECTION))('%s is required, and must be the expected text', (field) => {
  const named = [`payload.${field}`];
  expect(refusedFields(without(field))).toEqual(named);
  for (const wrong of ['', 'other', 7, null, ['x'], `${GOOD[field as keyof typeof GOOD]} `]) expect(refusedFields({ ...GOOD, [field]: wrong })).toEqual(named);
});

test.each(Object.keys(LISTS))('%s is required and a list', (field) => {
  const named = [`payload.${field}`];
  expect(refusedFields(without(field))).toEqual(named);
  for (const wrong of ['text', 7, null, {}, true]) expect(refusedFields({ ...GOOD, [field]: wrong })).toEqual(named);
});

test.each(['files_modified', 'assumptions', 'todos', 'notes'])('%s is a list of texts', (field) => {
  expect(refusedFields({ ...GOOD, [field]: ['one', 'two'] })).toEqual([]);
  expect(refusedFields({ ...GOOD, [field]: ['one', 2] })).toEqual([`payload.${field}[1]`]);
});

test('an endpoint has a method and a path, and optional further fields', () => {
  expect(refusedFields({ ...GOOD, endpoints: [{ method: 'GET', path: '/users', returns: ['User'] }] })).toEqual([]);
  expect(refusedFields({ ...GOOD, endpoints: [{ method: 'GET' }, 'GET /users'] })).toEqual(['payload.endpoints[0].path', 'payload.endpoints[1]']);
});

test('data shapes can be anything; extras are an object or missing; further fields are kept', () => {
  const shapes = { ...GOOD, data_shapes: ['User', { name: 'text' }, null, 7], extras: { branch: 'x', nested: [{ a: 1 }] }, own: 'field' };
  expect(requirePayload(shapes, DIRECTION)).toEqual(shapes);
  for (const wrong of ['text', 7, null, ['x']]) expect(refusedFields({ ...GOOD, extras: wrong })).toEqual(['payload.extras']);
});

test('a payload that is not an object is refused as a whole, and several faults are all named', () => {
  for (const wrong of [undefined, null, 'text', 7, [GOOD]]) expect(refusedFields(wrong)).toEqual(['payload']);
  expect(refusedFields({ ...without('notes'), todos: 'x', cycle_id: '' }).sort()).toEqual(['payload.cycle_id', 'payload.notes', 'payload.todos']);
  expect(refusedFields({ ...GOOD, producer: 'codex', consumer: 'gemini' })).toEqual(['payload.producer', 'payload.consumer']);
});

test('a payload is limited to a quarter of a million characters in all fields together', () => {
  expect(refusedFields({ ...GOOD, notes: Array(150_000).fill(7) })).toEqual(['payload']);
  const sized = (characters: number) => {
    const empty = JSON.stringify({ ...GOOD, extras: { text: '' } }).length;
    return { ...GOOD, extras: { text: 'x'.repeat(characters - empty) } };
  };
  expect(refusedFields(sized(256 * 1024))).toEqual([]);
  expect(refusedFields(sized(256 * 1024 + 1))).toEqual(['payload']);
});

test('a secret is refused anywhere in a payload, and the refusal does not repeat it', () => {
  const secret = 'with "quotes" in it';
  const payload = { ...GOOD, notes: [`the psk is ${secret}!`], extras: { deep: [{ [secret]: 1 }] } };
  expect(refusedFields(payload, ['other-secret', secret])).toEqual(['payload.notes', 'payload.extras']);
  expect(() => requirePayload(payload, DIRECTION, [secret])).toThrow(expect.objectContaining({ message: expect.not.stringContaining('quotes') }));
  // All tokens are refused, even old ones: lock tokens, session tokens and the caller's own token. Git hashes and variables are no tokens.
  for (const token of ['0a'.repeat(24), `sess_${'0a'.repeat(24)}`, `cv_${'x'.repeat(43)}`])
    expect(refusedFields({ ...GOOD, todos: [`use ${token}`] })).toEqual(['payload.todos']);
  expect(refusedFields({ ...GOOD, notes: ['0a'.repeat(20), '0a'.repeat(32), 'cv_cross_validation_scores'] })).toEqual([]);
  // This short secret is not searched for, because every payload contains "codex".
  expect(refusedFields(GOOD, ['codex', ''])).toEqual([]);
});
