import { expect, test } from 'vitest';
import { ago, until } from '../web/parts/values.tsx';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const NOW = Date.UTC(2026, 5, 1);

test.each([
  [0, 'just now'],
  [-3 * SECOND, 'just now'],
  [40 * SECOND, '40 s ago'],
  [12 * MINUTE, '12 min ago'],
  [3 * HOUR, '3 h ago'],
  [DAY, '1 day ago'],
  [40 * DAY, '40 days ago'],
  [90 * DAY, '3 months ago'],
  [800 * DAY, '2 years ago'],
])('writes a time %i ms in the past as "%s"', (length, words) => {
  expect(ago(NOW - length, NOW)).toBe(words);
});

test.each([
  [3 * HOUR, 'in 3 h'],
  [12 * MINUTE, 'in 12 min'],
  [0, 'now'],
  [-59 * SECOND, 'now'],
  [-3 * HOUR, '3 h ago'],
])('writes a time %i ms in the future as "%s"', (length, words) => {
  expect(until(NOW + length, NOW)).toBe(words);
});
