import { expect, test } from 'vitest';
import { z } from 'zod';
import { newId, view } from './rows.ts';

const schema = z.strictObject({
  task_id: z.string(),
  title: z.string(),
  status: z.enum(['open', 'done']),
  files: z.array(z.string()),
  closed_at: z.int().nullable(),
  note: z.string().optional(),
});
interface Row {
  workspace_id: string;
  id: string;
  title: string;
  status: 'open' | 'done';
  files: string;
  closed_at: number | null;
}
const row: Row = { workspace_id: 'w', id: 't1', title: 'One', status: 'open', files: '["a.ts"]', closed_at: null };

test('a view has the fields of its schema: same-named columns, parsed JSON, and given values', () => {
  expect(view(schema, row, { task_id: row.id })).toEqual({ task_id: 't1', title: 'One', status: 'open', files: ['a.ts'], closed_at: null });
  expect(view(schema, row, { task_id: row.id, title: 'Hidden', files: [] })).toMatchObject({ title: 'Hidden', files: [] });
  expect(Object.keys(view(schema, row, { task_id: row.id, note: 'x' }))).toEqual(Object.keys(schema.shape));
});

test('parses JSON in an optional column if the column has a value', () => {
  const noted = z.strictObject({ detail: z.record(z.string(), z.unknown()).nullable(), note: z.string().nullable() });
  expect(view(noted, { detail: '{"a":1}', note: '{}' }, {})).toEqual({ detail: { a: 1 }, note: '{}' });
  expect(view(noted, { detail: null, note: null }, {})).toEqual({ detail: null, note: null });
});

test('refuses JSON that does not match the schema', () => {
  expect(() => view(schema, { ...row, files: '[1]' }, { task_id: row.id })).toThrow(z.ZodError);
});

test('a field without a column, or of another type, does not compile', () => {
  // @ts-expect-error: `task_id` is not a column.
  expect(view(schema, row, {})).not.toHaveProperty('task_id');
  const { title: _, ...untitled } = row;
  // @ts-expect-error: `title` is missing.
  expect(view(schema, untitled, { task_id: row.id })).not.toHaveProperty('title');
  // @ts-expect-error: `closed_at` is text.
  expect(view(schema, { ...row, closed_at: 'now' }, { task_id: row.id })).toMatchObject({ closed_at: 'now' });
});

test('ids have their prefix, are unique, and sort by creation time, also within a millisecond', () => {
  const ids = [1_000, 1_000, 1_000, 1_001, 2_000, 2_000].flatMap((now) => Array.from({ length: 200 }, () => newId('task', now)));
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) expect(id).toMatch(/^task_[0-9A-HJKMNP-TV-Z]{26}$/);
});
