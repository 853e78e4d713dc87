import type { Clock } from '../kernel/clock.ts';

/** A clock that moves only when the test advances it. Advancing it runs everything that is then due. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(start = Date.UTC(2026, 0, 1)): TestClock {
  let time = start;
  const tasks = new Set<() => void>();
  return {
    now: () => time,
    every(_ms, task) {
      tasks.add(task);
      return () => tasks.delete(task);
    },
    after(ms, task) {
      const due = time + ms;
      const look = () => {
        if (time < due) return;
        tasks.delete(look);
        task();
      };
      tasks.add(look);
      return () => tasks.delete(look);
    },
    advance(ms) {
      time += ms;
      for (const task of tasks) task();
    },
  };
}
