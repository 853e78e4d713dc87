import { expect, test } from 'vitest';
import { newId } from '../storage/rows.ts';

test('ids have their prefix, are unique, and sort by when they were made, also within a millisecond', () => {
  const ids = [1_000, 1_000, 1_000, 1_001, 2_000, 2_000].flatMap((now) => Array.from({ length: 200 }, () => newId('task', now)));
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) expect(id).toMatch(/^task_[0-9A-HJKMNP-TV-Z]{26}$/);
});
