import { expect, test } from 'vitest';
import { testClock } from '../testing/clock.ts';
import { until } from '../testing/until.ts';
import type { Services } from './call.ts';
import { createLog } from './log.ts';
import { dueSweep, startSweeping } from './sweep.ts';

test('a sweep runs by the clock and never twice at the same time; it runs once more if it fell due while running, and runs again after a failure', async () => {
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

test('one row that cannot be settled blocks no other row, in its workspace or in another', async () => {
  const rows = ['bad', 'one', 'two', 'three', 'four'].map((id, at) => ({ workspace_id: at < 3 ? 'ws_a' : 'ws_b', id }));
  const settled: string[] = [];
  const logged: string[] = [];
  const store = { reader: undefined, write: (_workspace: string, work: (tx: unknown) => unknown) => work(undefined) };
  const services = { store, clock: testClock(), log: createLog('error', (line) => logged.push(line)) } as unknown as Services;
  const sweep = dueSweep(services, {
    name: 'test',
    everyMs: 1_000,
    atOnce: 2,
    find: async (_db, _now, limit) => rows.filter(({ id }) => !settled.includes(id)).slice(0, limit),
    settle: async (_tx, { id }) => {
      if (id === 'bad') throw new Error('this row is bad');
      settled.push(id);
    },
  });
  await sweep.run();
  expect(settled).toEqual(['one', 'two', 'three', 'four']);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain('this row is bad');
});
