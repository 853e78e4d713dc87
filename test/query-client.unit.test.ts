import { QueryClientProvider, QueryObserver } from '@tanstack/react-query';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { useAct } from '../web/queries.ts';
import { queries, readAgain, readNow } from '../web/query-client.ts';

// All tests use the same clock, because the module stores the time of the last read.
beforeAll(() => void vi.useFakeTimers());
afterAll(() => void vi.useRealTimers());
beforeEach(() => void vi.advanceTimersByTime(10_000));
afterEach(() => queries.clear());

/** Creates a visible query that counts its reads and its aborted reads. */
function shown(name: string, takesMs: number) {
  const seen = { reads: 0, aborted: 0, value: 0 };
  const observer = new QueryObserver(queries, {
    queryKey: [name],
    queryFn: ({ signal }) => {
      const read = ++seen.reads;
      signal.addEventListener('abort', () => seen.aborted++);
      return new Promise<number>((resolve) => setTimeout(() => resolve(read), takesMs));
    },
  });
  observer.subscribe(({ data }) => {
    seen.value = data ?? 0;
  });
  return seen;
}

test('reloads immediately and once more after a second, however many events arrive', async () => {
  const seen = shown('tasks', 5);
  await vi.advanceTimersByTimeAsync(10);
  expect(seen.reads).toBe(1);
  for (let count = 0; count < 10; count++) {
    readAgain();
    await vi.advanceTimersByTimeAsync(90);
  }
  expect(seen.reads).toBe(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(seen.reads).toBe(3);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen).toEqual({ reads: 3, aborted: 0, value: 3 });
});

test('keeps reloading when the clock is set back', async () => {
  const seen = shown('tasks', 5);
  readAgain();
  await vi.advanceTimersByTimeAsync(2_000);
  const before = seen.reads;
  vi.setSystemTime(Date.now() - 3_600_000);
  readAgain();
  await vi.advanceTimersByTimeAsync(10);
  expect(seen.reads).toBe(before + 1);
});

test('aborts no read in progress after an event or action, but repeats it once after it ends', async () => {
  const slow = shown('slow', 3_000);
  const idle = shown('idle', 5);
  await vi.advanceTimersByTimeAsync(10);
  readAgain();
  let settled = false;
  void readNow().then(() => {
    settled = true;
  });
  readAgain();
  await vi.advanceTimersByTimeAsync(2_500);
  expect(slow).toEqual({ reads: 1, aborted: 0, value: 0 });
  expect(idle.aborted).toBe(0);
  expect(idle.value).toBe(idle.reads);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slow).toEqual({ reads: 2, aborted: 0, value: 1 });
  // The action must not report success before the page shows its result.
  expect(settled).toBe(false);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(settled).toBe(true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(slow).toEqual({ reads: 2, aborted: 0, value: 2 });
});

test('does not abort reads when an action runs', async () => {
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('fetch', async () => Response.json({}));
  const slow = shown('slow', 3_000);
  let act: ReturnType<typeof useAct<'settings.set'>> | undefined;
  const Page = () => {
    act = useAct('settings.set');
    return null;
  };
  renderToString(createElement(QueryClientProvider, { client: queries }, createElement(Page)));
  const done = act?.mutateAsync({ key: 'review.timeout_hours', value: 5 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slow).toEqual({ reads: 1, aborted: 0, value: 0 });
  await vi.advanceTimersByTimeAsync(6_000);
  await done;
  expect(slow).toEqual({ reads: 2, aborted: 0, value: 2 });
});
