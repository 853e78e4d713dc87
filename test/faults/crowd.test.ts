import { expect, test } from 'vitest';
import { FULL, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene } from '../../src/testing/faults/scene.ts';

const AGENTS = FULL ? 500 : 100;
/** Calls per agent, on average. */
const CALLS = FULL ? 30 : 6;

test(`${AGENTS} concurrent agents, each with a token and a connection, all get answers without a fault, and none starves`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const scene = await Scene.begin({ label: 'crowd', agents: AGENTS });
  const counts = () => Array.from({ length: AGENTS }, (_, one) => scene.log.answeredBy.get(`agent-${one}`) ?? 0);
  // Node accepts one new connection per loop turn, however many wait. Only callers with a connection can be treated equally.
  while (counts().includes(0)) await scene.log.more(AGENTS / 10);
  const before = counts();
  await scene.log.more(AGENTS * CALLS);
  const answered = counts().map((count, one) => count - (before[one] as number));
  const mean = answered.reduce((sum, count) => sum + count, 0) / AGENTS;
  expect(Math.min(...answered)).toBeGreaterThan(mean / 4);
  await scene.nothingLeaked();
  expect(scene.log.calls.filter(({ fate, code }) => fate === 'unknown' || code?.startsWith('STORE_'))).toEqual([]);
  await scene.judge();
});
