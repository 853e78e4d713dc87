import { expect, test } from 'vitest';
import { MemoryBudget, StreamMemory } from './stream-memory.ts';

const note = (data: string) => ({ jsonrpc: '2.0' as const, method: 'notifications/message', params: { data } });

async function after(memory: StreamMemory, id: string): Promise<string[]> {
  const seen: string[] = [];
  await memory.replayEventsAfter(id, { send: async (_id, message) => void seen.push(String((message as ReturnType<typeof note>).params.data)) });
  return seen;
}

test('resumes a stream after the last received message, without messages of other streams', async () => {
  const memory = new StreamMemory(new MemoryBudget(10_000));
  const first = await memory.storeEvent('a', note('1'));
  await memory.storeEvent('b', note('2'));
  await memory.storeEvent('a', note('3'));
  expect(await memory.getStreamIdForEventId(first)).toBe('a');
  expect(await after(memory, first)).toEqual(['3']);
});

test('limits the stored messages of each session and of all sessions together, and releases them at the end of a session', async () => {
  const budget = new MemoryBudget(50_000);
  const [one, other] = [new StreamMemory(budget), new StreamMemory(budget)];
  const ids: string[] = [];
  for (let n = 0; n < 300; n++) ids.push(await one.storeEvent('a', note(String(n))));
  expect(await one.getStreamIdForEventId(ids[99] as string)).toBeUndefined();
  expect(await after(one, ids[100] as string)).toHaveLength(199);
  for (let n = 0; n < 20; n++) await other.storeEvent('a', note('x'.repeat(20_000)));
  expect(budget.used).toBeLessThanOrEqual(50_000);
  one.close();
  other.close();
  await other.storeEvent('a', note('late'));
  expect(budget.used).toBe(0);
});

test('drops messages of the largest session if all sessions together exceed the limit', async () => {
  const budget = new MemoryBudget(50_000);
  const [greedy, modest] = [new StreamMemory(budget), new StreamMemory(budget)];
  for (let n = 0; n < 20; n++) await greedy.storeEvent('a', note('x'.repeat(5_000)));
  const first = await modest.storeEvent('a', note('1'));
  await modest.storeEvent('a', note('2'));
  for (let n = 0; n < 20; n++) await greedy.storeEvent('a', note('x'.repeat(5_000)));
  expect(await after(modest, first)).toEqual(['2']);
  expect(budget.used).toBeLessThanOrEqual(50_000);
});
