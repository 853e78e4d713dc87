import { expect, test } from 'vitest';
import { workflowApp } from '../../../testing/scenes/workflow.ts';
import { ENGINE } from '../../../testing/store/database.ts';
import { costOf } from '../../../testing/store/statements.ts';

// While one writer runs a statement or waits for a round trip, all other writers of the workspace wait too. SQLite has no round trips.
test.runIf(ENGINE === 'postgres')('a claim and each status change take no more statements and round trips than needed', async () => {
  const { ok, agent, planned } = await workflowApp();
  const { ids } = await planned(['one', { name: 'two', depends_on: ['one'] }]);
  const id = ids.one as string;
  const agent_id = await agent();
  const claim = await costOf(() => ok('task_claim', { task_id: id, agent_id }));
  const step = (change: object) => costOf(() => ok('task_update_status', { id, agent_id, ...change }));
  const plan = await step({ status: 'planning' });
  const start = await step({ status: 'in_progress' });
  const complete = await step({ status: 'completed', outcome: 'done' });
  // In each call, three round trips are for the beginning of the transaction, the event and the commit.
  expect(claim).toEqual({ statements: 11, trips: 5 });
  expect(plan).toEqual({ statements: 10, trips: 6 });
  expect(start).toEqual({ statements: 9, trips: 6 });
  expect(complete).toEqual({ statements: 13, trips: 7 });
});

test.runIf(ENGINE === 'postgres')('simultaneous claims share their transaction', async () => {
  const { ok, agent, planned } = await workflowApp();
  const names = Array.from({ length: 12 }, (_, n) => `task ${n}`);
  const { ids } = await planned(names);
  const agents = await Promise.all(names.map(() => agent()));
  const { trips } = await costOf(() => Promise.all(names.map((name, n) => ok('task_claim', { task_id: ids[name], agent_id: agents[n] }))));
  // Each claim needs separate reads and writes. At least two claims share the other statements.
  expect(trips).toBeLessThanOrEqual(names.length * 2 + (names.length / 2) * 3);
});
