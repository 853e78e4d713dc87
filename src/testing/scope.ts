import { onTestFinished } from 'vitest';

let run: (() => unknown)[] | undefined;

/** Done when the test is over, or the run of a property that asked for it. What was asked for last comes first. */
export function whenOver(undo: () => unknown): void {
  if (run) run.push(undo);
  else onTestFinished(async () => void (await undo()));
}

/** One run of a property cleans up behind itself: many of them hold no more databases and connections than one. */
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
