import { afterEach, expect, test, vi } from 'vitest';
import { call } from './call.ts';
import type { Invocation } from './command.ts';
import { everyFiveSeconds, working } from './progress.ts';

afterEach(() => vi.useRealTimers());

const narrated = () => {
  const notes: string[] = [];
  return { notes, json: false, out: { note: (text: string) => void notes.push(text) } as unknown as Invocation['out'] };
};

test('work that takes more than five seconds reports its progress, and shorter work reports nothing [use.cli.progress]', async () => {
  vi.useFakeTimers();
  const place = narrated();
  const takes = (ms: number) => working(place, 'Restoring', () => new Promise((resolve) => setTimeout(resolve, ms, 'done')));
  const short = takes(4_900);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([await short, place.notes]).toEqual(['done', []]);
  const long = takes(200_000);
  await vi.advanceTimersByTimeAsync(300_000);
  await long;
  expect(place.notes).toEqual([5, 15, 35, 75, 135, 195].map((seconds) => `Restoring: ${seconds} s so far`));
});

test('every call to the server reports its progress, except with --json [use.cli.progress]', async () => {
  vi.useFakeTimers();
  for (const json of [false, true]) {
    const place = narrated();
    const client = async () => ({ action: () => new Promise((resolve) => setTimeout(resolve, 6_000, {})) });
    const answer = call({ ...place, json, client } as unknown as Invocation, 'server.backup');
    await vi.advanceTimersByTimeAsync(10_000);
    await answer;
    expect(place.notes).toEqual(json ? [] : ['Waiting for the server: 5 s so far']);
  }
});

test('a loop prints at most one line of progress in five seconds [use.cli.progress]', async () => {
  vi.useFakeTimers();
  const place = narrated();
  const say = everyFiveSeconds(place);
  for (let second = 0; second < 12; second++) {
    say(() => `second ${second}`);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(place.notes).toEqual(['second 5', 'second 10']);
});
