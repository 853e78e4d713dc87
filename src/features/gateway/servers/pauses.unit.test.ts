import { expect, test } from 'vitest';
import { delayBefore, nextPause, STEADY_MS } from './pauses.ts';

test('the delay doubles from half a second to a minute, and randomness subtracts up to half', () => {
  expect([0, 1, 2, 6, 7, 8, 1000].map((failures) => delayBefore(failures, 0))).toEqual([500, 1000, 2000, 32_000, 60_000, 60_000, 60_000]);
  expect([0, 1, 8].map((failures) => delayBefore(failures, 1))).toEqual([500, 500, 30_000]);
});

test('a server that reports changes constantly is relisted less and less often, and without delay after a quiet minute', () => {
  const pauses = [nextPause(0, Number.POSITIVE_INFINITY)];
  while (pauses.length < 13) pauses.push(nextPause(pauses.at(-1) as number, STEADY_MS - 1));
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000]);
  expect(nextPause(60_000, STEADY_MS)).toBe(50);
});
