import { onTestFinished } from 'vitest';

let run: (() => unknown)[] | undefined;

/** Runs `undo` when the test ends. Inside a run of a property test, it is called at the end of that run. The last registered function is called first. */
export function whenOver(undo: () => unknown): void {
  if (run) run.push(undo);
  else onTestFinished(async () => void (await undo()));
}

/** Makes each run of a property test clean up after itself. Otherwise many runs would keep their databases and connections until the test ends. */
export const inRun =
  <A extends unknown[]>(body: (...args: A) => Promise<void>) =>
  async (...args: A): Promise<void> => {
    const mine: (() => unknown)[] = [];
    run = mine;
    try {
      await body(...args);
    } finally {
      run = undefined;
      for (const undo of mine.reverse()) await undo();
    }
  };
