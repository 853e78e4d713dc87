import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Deadline } from './call.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

const forAWhile = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));

function deadline(ms: number, allowanceMs: number) {
  const made = new Deadline(ms, undefined, new Set(), allowanceMs);
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

test('time spent asking the caller does not count against the deadline, and concurrent questions count once', async () => {
  const call = deadline(100, 1_000);
  await vi.advanceTimersByTimeAsync(60);
  const asked = [call.asking(forAWhile(300)), call.asking(forAWhile(500))];
  await vi.advanceTimersByTimeAsync(500);
  await Promise.all(asked);
  await vi.advanceTimersByTimeAsync(39);
  expect(call.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(call.signal.reason).toMatchObject({ code: 'TOOL_TIMEOUT', message: 'The call took longer than 100 ms.' });
});

test('all questions together pause the deadline for at most the allowance', async () => {
  const call = deadline(100, 1_000);
  const first = call.asking(forAWhile(600));
  await vi.advanceTimersByTimeAsync(600);
  await first;
  void call.asking(forAWhile(10_000));
  await vi.advanceTimersByTimeAsync(499);
  expect(call.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(call.signal.aborted).toBe(true);
});

test('an answer that arrives after the call ended starts no timer', async () => {
  const call = deadline(100, 1_000);
  const late = call.asking(forAWhile(300));
  call[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(300);
  await late;
  expect(vi.getTimerCount()).toBe(0);
});

test('work that starts after the deadline is rejected immediately', async () => {
  const call = deadline(100, 1_000);
  await vi.advanceTimersByTimeAsync(100);
  await expect(call.race(new Promise<never>(() => {}))).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' });
});
