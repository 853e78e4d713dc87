import { expect, test } from 'vitest';
import { axisWords } from '../web/parts/axis-words.ts';

test('the marks of a chart are times of 24 hours, in UTC where that was chosen; days where a bar stands for one', () => {
  const evening = Date.UTC(2026, 0, 2, 18, 5);
  expect(axisWords([evening, evening + 60_000], true)(evening)).toBe('18:05');
  expect(axisWords([evening, evening + 60_000], false)(evening)).toMatch(/^\d\d:\d\d$/);
  expect(axisWords([evening, evening + 86_400_000], true)(evening)).toMatch(/Jan/);
});
