import { expect, test } from 'vitest';
import { countedFailures, FAILURES_COUNT_MS, waitAfter } from './open-session.ts';

const AT = 1_000_000;
const failures = (count: number) => ({ failures: count, last_at: AT });

test('five wrong PSKs cost nothing; then each doubles the wait, up to a minute', () => {
  expect([0, 1, 2, 3, 4].map((count) => waitAfter(failures(count), AT))).toEqual([0, 0, 0, 0, 0]);
  expect([5, 6, 7, 8, 9, 10, 11, 12, 5_000].map((count) => waitAfter(failures(count), AT))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
  ]);
  expect(waitAfter(undefined, AT)).toBe(0);
});

test('the wait runs from the last one, and is over when it is over', () => {
  expect(waitAfter(failures(7), AT + 1)).toBe(3_999);
  expect(waitAfter(failures(7), AT + 3_999)).toBe(1);
  expect(waitAfter(failures(7), AT + 4_000)).toBe(0);
  // Waiting does not undo them: the next one makes it longer.
  expect(countedFailures(failures(7), AT + 4_000)).toBe(7);
});

test('after an hour without one they are forgotten', () => {
  expect(countedFailures(failures(7), AT + FAILURES_COUNT_MS - 1)).toBe(7);
  expect(countedFailures(failures(7), AT + FAILURES_COUNT_MS)).toBe(0);
  expect(countedFailures(undefined, AT)).toBe(0);
});
