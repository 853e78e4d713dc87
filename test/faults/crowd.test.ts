import { expect, test } from 'vitest';
import { FULL, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene } from '../../src/testing/faults/scene.ts';

const AGENTS = FULL ? 500 : 100;
/** The average number of calls that each agent makes. */
const CALLS = FULL ? 30 : 6;

test(`${AGENTS} concurrent agents, each with its own token and connection, all get correct answers, and none has to wait much longer than the others`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const scene = await Scene.begin({ label: 'crowd', agents: AGENTS });
  const counts = () => Array.from({ length: AGENTS }, (_, one) => scene.log.answeredBy.get(`agent-${one}`) ?? 0);
  // Wait until all agents have had an answer. Node accepts only one new connection in each turn of the event loop, and only agents that are connected can be
  // treated equally.
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
