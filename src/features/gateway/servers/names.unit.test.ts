import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exposedName, foldedName, nativeNames } from './names.ts';

const server = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/);
const tool = fc.oneof(fc.stringMatching(/^[A-Za-z0-9_.-]{1,60}$/), fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }));
const tail = (from: string, name: string) => hash('sha256', `${from}\0${name}`).slice(0, 6);

test('a tool is offered as <server>_<tool> [gateway.names.prefix]', () => {
  expect(exposedName('filesystem', 'read_file', true)).toBe('filesystem_read_file');
  expect(exposedName('git-hub', 'create-issue', true)).toBe('git-hub_create-issue');
});

test('a name that is too long or has other characters is shortened and ends in a hash [gateway.names.limit]', () => {
  const long = 'list_every_single_thing_there_is_to_list';
  expect(exposedName('filesystem', long, true)).toBe(`${`filesystem_${long}`.slice(0, 33)}_${tail('filesystem', long)}`);
  expect(exposedName('a', 'b.c', true)).toBe(`a_b_c_${tail('a', 'b.c')}`);
  expect(exposedName('a', 'b c', true)).not.toBe(exposedName('a', 'b.c', true));
  const exact = 'x'.repeat(38);
  expect(exposedName('a', exact, true)).toBe(`a_${exact}`);
  expect(exposedName('a', `${exact}x`, true)).toHaveLength(40);
});

test('without a prefix a tool keeps its own name, if that is valid [gateway.names.no-prefix]', () => {
  expect(exposedName('a', 'files.read', false)).toBe('files.read');
  expect(exposedName('a', 'x'.repeat(128), false)).toBe('x'.repeat(128));
  expect(exposedName('a', 'x'.repeat(129), false)).toBe(`${'x'.repeat(33)}_${tail('a', 'x'.repeat(129))}`);
  expect(exposedName('a', 'öl', false)).toBe(`_l_${tail('a', 'öl')}`);
});

test('every exposed name is valid, short, stable, and unique within the server [gateway.names.limit] [gateway.names.stable]', () => {
  fc.assert(
    fc.property(server, fc.uniqueArray(tool, { minLength: 1, maxLength: 50 }), (name, tools) => {
      const names = tools.map((own) => exposedName(name, own, true));
      for (const exposed of names) expect(exposed).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
      expect(tools.map((own) => exposedName(name, own, true))).toEqual(names);
      // The hash does not distinguish unpaired surrogates. That does no harm, because no client can send such a name.
      if (tools.every((own) => own.isWellFormed())) expect(new Set(names).size).toBe(tools.length);
      for (const own of tools) expect(exposedName(name, own, false)).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
    }),
  );
});

test('native names, names equal to them with "_" for ".", and native namespaces cannot be taken', () => {
  const isNative = nativeNames(['echo', 'cycle.start', 'note_add']);
  for (const taken of ['echo', 'cycle.start', 'cycle_start', 'note.add', 'covibe_anything', 'lock.anything', 'task_anything'])
    expect([taken, isNative(taken)]).toEqual([taken, true]);
  for (const free of ['echo2', 'fs_echo', 'cycles', 'tasks_list']) expect([free, isNative(free)]).toEqual([free, false]);
  expect(foldedName('a.b.c')).toBe('a_b_c');
});
