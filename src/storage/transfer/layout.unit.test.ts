import { expect, test } from 'vitest';
import { SCHEMA } from '../schema.ts';
import { LEFT_OUT, rowProblem, TABLES, type TableLayout, type TransferRow } from './layout.ts';

const columnLines = SCHEMA.postgres.split('\n').filter((line) => /^\w+\.\w+ /.test(line));

test('every table of the schema is exported, or left out by name', () => {
  const inSqlite = [...SCHEMA.sqlite.matchAll(/^CREATE TABLE "(\w+)"/gm)].map(([, name]) => name);
  expect([...TABLES.map(({ name }) => name), ...LEFT_OUT].sort()).toEqual(inSqlite.sort());
});

test('every column of an exported table is of a portable type: another would be left behind in silence', () => {
  const known = TABLES.flatMap(({ name, columns }) => [...columns.keys()].map((column) => `${name}.${column}`));
  const all = columnLines.map((line) => line.split(' ')[0] ?? '').filter((column) => !LEFT_OUT.some((table) => column.startsWith(`${table}.`)));
  expect(known.sort()).toEqual(all.sort());
});

test('every exported table has a key to sort by, and says whose its rows are', () => {
  expect(TABLES.filter(({ key, columns, owner }) => ![...key, owner].every((column) => columns.has(column))).map(({ name }) => name)).toEqual([]);
  expect(TABLES.filter(({ key }) => key.length === 0).map(({ name }) => name)).toEqual([]);
});

test('no table refers to another by a key: with the first that does, the order of the file begins to matter', () => {
  expect(`${SCHEMA.sqlite}${SCHEMA.postgres}`).not.toMatch(/references|foreign key/i);
});

test('no key is counted up by an engine: an import would have to set the counter', () => {
  expect(`${SCHEMA.sqlite}${SCHEMA.postgres}`).not.toMatch(/autoincrement|nextval|generated (always|by default) as identity/i);
});

test('what is unique in the whole database is known for what it is', () => {
  const across = TABLES.flatMap(({ name, uniqueAcross }) => uniqueAcross.map((columns) => `${name} ${columns.join(',')}`));
  expect(across).toEqual(expect.arrayContaining(['tokens hash', 'signin_links hash', 'cycles repository,cycle_id', 'instances machine,worktree_path']));
  expect(across.some((one) => /workspace_id/.test(one))).toBe(false);
});

const settings = TABLES.find(({ name }) => name === 'settings') as TableLayout;
const fitting: TransferRow = { workspace_id: 'w', key: 'k', value: 'v', updated_at: 1, updated_by: 'b' };

test.each<[string, TransferRow, RegExp | undefined]>([
  ['fits', fitting, undefined],
  ['has a column too many', { ...fitting, more: 1 }, /^more: /],
  ['lacks a column', { workspace_id: 'w', key: 'k', value: 'v', updated_at: 1 }, /^updated_by: missing/],
  ['has null where there must be a value', { ...fitting, value: null }, /^value: /],
  ['has a number for a text', { ...fitting, value: 1 }, /^value: expected text/],
  ['has a text for a number', { ...fitting, updated_at: '1' }, /^updated_at: /],
  ['has a fraction', { ...fitting, updated_at: 1.5 }, /^updated_at: /],
  ['has a number that cannot be told from its neighbour', { ...fitting, updated_at: 2 ** 53 }, /^updated_at: /],
  ['has a NUL', { ...fitting, value: 'a\0b' }, /^value: contains a NUL/],
])('a row that %s', (_, row, reason) => {
  const found = rowProblem(settings, row);
  if (reason) expect(found).toMatch(reason);
  else expect(found).toBeUndefined();
});
