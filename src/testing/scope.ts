import { onTestFinished } from 'vitest';

let run: (() => unknown)[] | undefined;

/** Runs the cleanup when the test, or the property's run that registered it, ends. The last one registered runs first. */
export function whenOver(undo: () => unknown): void {
  if (run) run.push(undo);
  else onTestFinished(async () => void (await undo()));
}

/** One run of a property cleans up after itself, so that many runs hold no more databases and connections than one. */
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
