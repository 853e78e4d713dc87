import { expect, test } from 'vitest';
import { testClock } from '../testing/clock.ts';
import { until } from '../testing/until.ts';
import { createLog } from './log.ts';
import { startSweeping } from './sweep.ts';

test('a sweep runs by the clock, never twice at once, once more if it fell due meanwhile, and outlives its own failure', async () => {
  const clock = testClock();
  const logged: string[] = [];
  const waiting: (() => void)[] = [];
  let runs = 0;
  const run = () => {
    runs++;
    if (runs === 1) return Promise.reject(new Error('first fails'));
    return new Promise<void>((resolve) => waiting.push(resolve));
  };
  const sweeping = startSweeping(
    [{ name: 'test', everyMs: 1_000, run }],
    clock,
    createLog('error', (line) => logged.push(line)),
  );
  clock.advance(1_000);
  await until(() => expect(logged.join('')).toContain('first fails'));
  clock.advance(1_000);
  await until(() => expect(runs).toBe(2));
  for (let i = 0; i < 5; i++) clock.advance(1_000);
  expect(runs).toBe(2);
  waiting.shift()?.();
  await until(() => expect(runs).toBe(3));
  const stopped = sweeping.stop();
  waiting.shift()?.();
  await stopped;
  clock.advance(1_000);
  expect(runs).toBe(3);
});
