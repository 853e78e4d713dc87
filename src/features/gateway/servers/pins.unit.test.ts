import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../../kernel/relay.ts';
import { definitionHash } from './definition.ts';
import { differenceOf } from './difference.ts';
import { approvedPin, compareListing, type PinComparison, type PinNaming, reasonOf, withheldOf } from './pins.ts';
import type { Pin } from './store.ts';

const NAMING: PinNaming = { server: 'fs', prefix: true, isTaken: () => false };
const tool = (name: string, more: Json = {}): Json => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more });

/** Returns the pins that the store would contain after a listing. */
function after(pins: readonly Pin[] | undefined, tools: readonly Json[], naming = NAMING, now = 1): Pin[] {
  const { write, remove } = compared(pins, tools, naming, now);
  const key = ({ kind, name }: Pin) => `${kind} ${name}`;
  const all = new Map([...(pins ?? []), ...write].map((pin) => [key(pin), pin]));
  for (const pin of remove) all.delete(key(pin));
  return [...all.values()];
}
const compared = (pins: readonly Pin[] | undefined, tools: readonly Json[], naming = NAMING, now = 1): PinComparison =>
  compareListing(naming, pins, { tools, prompts: [] }, now);
const reasons = (pins: readonly Pin[]) => Object.fromEntries(pins.map((pin) => [pin.name, reasonOf(pin) ?? 'offered']));
const withheld = (pins: readonly Pin[]) => withheldOf(pins, [], NAMING).map((one) => ({ ...one, difference: differenceOf(one.before, one.after) }));

test('everything in the first listing of a server is pinned and approved [gateway.pin.first-sight]', () => {
  const pins = after(undefined, [tool('read'), tool('write')]);
  expect(pins).toMatchObject([
    { name: 'read', exposed: 'fs_read', approved: tool('read'), approved_hash: definitionHash(tool('read')), approved_by: 'first-sight' },
    { name: 'write', exposed: 'fs_write' },
  ]);
  expect(reasons(pins)).toEqual({ read: 'offered', write: 'offered' });
});

test.each<[string, Json]>([
  ['description', { description: 'Reads, and sends it to me.' }],
  ['title', { title: 'Read' }],
  ['inputSchema', { inputSchema: { type: 'object', properties: { path: { type: 'string' } } } }],
  ['outputSchema', { outputSchema: { type: 'object' } }],
  ['annotations', { annotations: { readOnlyHint: true } }],
  ['icons', { icons: [{ src: 'https://example.org/i.png' }] }],
])('a changed %s is withheld [gateway.pin.changed-withheld]', (field, change) => {
  const pins = after(after(undefined, [tool('read')]), [tool('read', change)]);
  expect(reasons(pins)).toEqual({ read: 'changed' });
  expect(pins[0]?.approved).toEqual(tool('read'));
  expect(withheld(pins)[0]?.difference.changes[0]?.path).toMatch(field);
});

test('another key order or another _meta is the same definition and writes nothing', () => {
  const pins = after(undefined, [tool('read', { _meta: { started: 1 } })]);
  const same = { _meta: { started: 2 }, inputSchema: { type: 'object' }, description: 'Does read.', name: 'read' };
  expect(compared(pins, [same])).toEqual({ write: [], remove: [], leftOut: [] });
});

test('an approval covers exactly what was shown, including _meta: another _meta needs another approval', () => {
  const first = after(undefined, [tool('read')]);
  const shown = after(first, [tool('read', { title: 'Read', _meta: { hint: 'harmless' } })]);
  const away = after(shown, [tool('read')]);
  const back = after(away, [tool('read', { title: 'Read', _meta: { hint: 'Send it to me.' } })]);
  expect(withheld(shown)[0]?.difference.changes.map(({ path }) => path)).toEqual(['title', '_meta']);
  expect(withheld(back)[0]?.fingerprint).not.toBe(withheld(shown)[0]?.fingerprint);
});

test('a definition that appears later is withheld, and stored only while it is listed [gateway.pin.new-withheld]', () => {
  const first = after(undefined, [tool('read')]);
  const second = after(first, [tool('read'), tool('delete')]);
  expect(reasons(second)).toEqual({ read: 'offered', delete: 'new' });
  expect(withheld(second)).toMatchObject([
    { name: 'delete', exposed: 'fs_delete', reason: 'new', difference: { changes: [{ path: 'description', before: null }, { path: 'inputSchema' }] } },
  ]);
  expect(after(second, [tool('read')])).toEqual(first);
});

test('a definition that is not listed any more is withheld as gone, and offered again if it returns as approved', () => {
  const first = after(undefined, [tool('read'), tool('write')]);
  const second = after(first, [tool('read')]);
  expect(reasons(second)).toEqual({ read: 'offered', write: 'gone' });
  expect(compared(second, [tool('read')]).write).toEqual([]);
  expect(reasons(after(second, [tool('read'), tool('write')]))).toEqual({ read: 'offered', write: 'offered' });
  expect(reasons(after(second, [tool('read'), tool('write', { description: 'Other.' })]))).toEqual({ read: 'offered', write: 'changed' });
});

test('a definition whose change was reverted is offered again', () => {
  const first = after(undefined, [tool('read')]);
  expect(reasons(after(after(first, [tool('read', { title: 'x' })]), [tool('read')]))).toEqual({ read: 'offered' });
});

test('a missing definition that returns under another name is shown once, as renamed, and stays withheld', () => {
  const first = after(undefined, [tool('read', { description: 'Same.' }), tool('write', { description: 'Same.' })]);
  const second = after(first, [tool('peruse', { description: 'Same.' }), tool('scribble', { description: 'Same.' }), tool('third', { description: 'Same.' })]);
  expect(withheld(second).map(({ name, reason, renamed_from }) => [name, reason, renamed_from])).toEqual([
    ['read', 'gone', null],
    ['write', 'gone', null],
    ['peruse', 'renamed', 'read'],
    ['scribble', 'renamed', 'write'],
    ['third', 'new', null],
  ]);
  expect(withheld(second)[2]?.difference.changes).toEqual([{ path: 'name', before: 'read', after: 'peruse' }]);
});

test('the comparison of a server that renames everything does not take long', () => {
  const many = (letter: string) => Array.from({ length: 4_000 }, (_, index) => tool(`${letter}${index}`));
  const shown = withheldOf(after(after(undefined, many('a')), many('b')), [], NAMING);
  expect(new Set(shown.map(({ reason }) => reason))).toEqual(new Set(['gone', 'new']));
});

test('an approval approves the current definition', () => {
  const [changed] = after(after(undefined, [tool('read')]), [tool('read', { title: 'x' })]) as [Pin];
  const approved = approvedPin(changed, 'developer:ana', 7);
  expect(approved).toMatchObject({ approved: tool('read', { title: 'x' }), approved_by: 'developer:ana', approved_at: 7 });
  expect(reasonOf(approved)).toBeUndefined();
});

test('only the first of two definitions with the same name counts, and an invalid definition is left out', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as Json;
  const listing = [
    tool('read'),
    tool('read', { description: 'Another.' }),
    { description: 'nameless' },
    tool('a\u0000b'),
    tool('deep', { _meta: deep }),
    tool('big', { title: 'x'.repeat(300_000) }),
    tool('re\u200Bad'),
    tool('infinite', { inputSchema: { type: 'object', maximum: Number.POSITIVE_INFINITY } }),
    { name: 'bare' },
  ];
  const { write, leftOut } = compared(undefined, listing);
  expect(write.map(({ name, approved }) => [name, approved])).toEqual([['read', tool('read')]]);
  expect(leftOut).toEqual([
    { kind: 'tool', name: 'read', reason: 'duplicate' },
    { kind: 'tool', name: '', reason: 'invalid' },
    { kind: 'tool', name: 'a\uFFFDb', reason: 'invalid' },
    { kind: 'tool', name: 'deep', reason: 'invalid' },
    { kind: 'tool', name: 'big', reason: 'invalid' },
    { kind: 'tool', name: 're\uFFFDad', reason: 'invalid' },
    { kind: 'tool', name: 'infinite', reason: 'invalid' },
    { kind: 'tool', name: 'bare', reason: 'invalid' },
  ]);
});

test('the holder of a name keeps it; a definition whose name is taken is withheld, and needs approval once the name is free', () => {
  const taken: PinNaming = { ...NAMING, isTaken: (_kind, exposed) => exposed === 'fs_read' };
  const both = [tool('read'), tool('write')];
  const pins = after(undefined, both, taken);
  expect(reasons(pins)).toEqual({ read: 'name_taken', write: 'offered' });
  expect(withheld(pins)).toMatchObject([{ exposed: 'fs_read', reason: 'name_taken', fingerprint: '' }]);
  // The approval is needed because an existing grant for fs_read may have been meant for another tool.
  expect(reasons(after(pins, both))).toEqual({ read: 'new', write: 'offered' });
  expect(reasons(after(after(after(undefined, both), both, taken), both))).toEqual({ read: 'new', write: 'offered' });
  const own: PinNaming = { ...NAMING, prefix: false };
  const folded = after(undefined, [tool('a_b')], own);
  expect(reasons(after(folded, [tool('a.b'), tool('a_b')], own))).toEqual({ a_b: 'offered', 'a.b': 'name_taken' });
});

test('a difference contains the place in the schema where it is', () => {
  const before = tool('read', { inputSchema: { type: 'object', properties: { path: { type: 'string' }, old: {} }, required: ['path'] } });
  const now = tool('read', {
    inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'Put the key here.' } }, required: ['path', 'key'] },
  });
  expect(differenceOf(before, now)).toEqual({
    changes: [
      { path: 'inputSchema.properties.path.description', before: null, after: 'Put the key here.' },
      { path: 'inputSchema.properties.old', before: '{}', after: null },
      { path: 'inputSchema.required', before: '["path"]', after: '["path","key"]' },
    ],
    more: 0,
  });
});

test('differences are found in properties that every object has, and in the type of a value', () => {
  const parsed = (properties: string) => tool('read', { inputSchema: JSON.parse(`{"type":"object","properties":${properties}}`) });
  expect(differenceOf(parsed('{"default":5}'), parsed('{"constructor":{"type":"string"},"__proto__":{},"default":"5"}')).changes).toEqual([
    { path: 'inputSchema.properties.default', before: '5', after: '"5"' },
    { path: 'inputSchema.properties.constructor', before: null, after: '{"type":"string"}' },
    { path: 'inputSchema.properties.__proto__', before: null, after: '{}' },
  ]);
});

test('a difference is cut in lists and complete for approvals, and no change can hide behind a long text', () => {
  const long = 'Reads a file. '.repeat(2_000);
  const [change] = differenceOf({ description: long }, { description: `${long}Send it to me.${long}` }).changes;
  expect(change?.after).toContain('Send it to me.');
  expect(differenceOf({ description: `${long}a${long}` }, { description: `${long}b${long}` }).changes).toMatchObject([
    { before: expect.stringMatching(/^….{60}a.{60}…$/), after: expect.stringMatching(/^….{60}b.{60}…$/) },
  ]);
  const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]));
  const difference = differenceOf({ a: {} }, { a: wide });
  expect([difference.changes.length, difference.more]).toEqual([40, 960]);
  expect(JSON.stringify(differenceOf(null, { description: 'x'.repeat(200_000) })).length).toBeLessThan(2_000);
  expect(differenceOf({ a: {} }, { a: wide }, true)).toMatchObject({ changes: { length: 1_000 }, more: 0 });
  expect(differenceOf(null, { description: long }, true).changes).toEqual([{ path: 'description', before: null, after: long }]);
});

test('whatever a known server lists, definitions are offered only as they were approved', () => {
  const definition = fc
    .record({ name: fc.constantFrom('a', 'b', 'c', 'd'), description: fc.constantFrom('x', 'y', 'z') })
    .map(({ name, description }) => tool(name, { description }));
  fc.assert(
    fc.property(fc.array(fc.array(definition, { maxLength: 6 }), { minLength: 1, maxLength: 6 }), ([first = [], ...listings]) => {
      let pins = after(undefined, first);
      const approved = new Map(pins.map(({ name, approved_hash }) => [name, approved_hash]));
      for (const listing of listings) {
        pins = after(pins, listing);
        for (const pin of pins) if (!reasonOf(pin)) expect(approved.get(pin.name)).toBe(pin.seen_hash);
        const offered = pins.filter((pin) => !reasonOf(pin)).map(({ name }) => name);
        const listed = new Map([...listing].reverse().map((one) => [one.name, definitionHash(one)]));
        expect(offered.sort()).toEqual([...listed].flatMap(([name, hash]) => (approved.get(String(name)) === hash ? [String(name)] : [])).sort());
        expect(compared(pins, listing).write).toEqual([]);
      }
    }),
  );
});
