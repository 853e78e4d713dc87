import { onTestFinished } from 'vitest';

let run: (() => unknown)[] | undefined;

/** Runs the cleanup when the test ends, or when the run of a property that registered it ends. The last registered cleanup runs first. */
export function whenOver(undo: () => unknown): void {
  if (run) run.push(undo);
  else onTestFinished(async () => void (await undo()));
}

/** Makes each run of a property clean up after itself, so that many runs hold no more databases and connections than one run. */
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
