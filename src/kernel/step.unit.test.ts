import { expect, test } from 'vitest';
import { testClock } from '../testing/clock.ts';
import type { Services } from './call.ts';
import { createLog } from './log.ts';
import { createLeases } from './step.ts';

test('a step that cannot be taken over does not block other overdue steps', async () => {
  const row = (id: string) => ({ workspace_id: 'ws_default', id, step: 'push', step_until: 0, step_by: null });
  const leases = createLeases({
    holders: { me: 'here', hasEnded: () => false },
    stepMs: 1_000,
    find: async (_tx, seen: ReturnType<typeof row>) => {
      if (seen.id === 'bad') throw new Error('this row is bad');
      return seen;
    },
    change: async () => {},
  });
  const logged: string[] = [];
  const store = { write: (workspace: string, callback: (tx: object) => unknown) => Promise.resolve({ workspace, now: 1 }).then(callback) };
  const services = { store, clock: testClock(), log: createLog('error', (line) => logged.push(line)) } as unknown as Services;
  const finished: string[] = [];
  await leases.finishOverdue(services, [row('bad'), row('good')], async (_, { id }) => finished.push(id));
  expect(finished).toEqual(['good']);
  expect(logged).toEqual([expect.stringContaining('this row is bad')]);
});
