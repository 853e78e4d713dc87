import { expect, test } from 'vitest';
import { spansOf, type TaskHappening } from './spans.ts';

const step = (time: number, kind: string, more: Partial<TaskHappening> = {}): TaskHappening => ({
  task_id: 'tk_1',
  kind: `workflow.task_${kind}`,
  time,
  agent_id: 'ag_1',
  to: null,
  reason: null,
  ...more,
});

test("a silent agent's span ends as lost, and the next agent's span counts as reclaimed", () => {
  const spans = spansOf([
    step(1, 'claimed'),
    step(2, 'status_changed', { to: 'planning' }),
    step(9, 'released', { reason: 'agent silent', to: 'pending' }),
    step(12, 'claimed', { agent_id: 'ag_2' }),
    step(20, 'status_changed', { agent_id: 'ag_2', to: 'completed' }),
  ]);
  expect(spans).toMatchObject([
    { agent_id: 'ag_1', from: 1, until: 9, end: 'lost', reclaimed: false },
    { agent_id: 'ag_2', from: 12, until: 20, end: 'completed', reclaimed: true },
  ]);
});

test('the times in which a task waits for a person are listed separately, even if it still waits', () => {
  const [span] = spansOf([
    step(1, 'claimed'),
    step(3, 'status_changed', { to: 'paused' }),
    step(8, 'status_changed', { to: 'in_progress' }),
    step(9, 'status_changed', { to: 'paused' }),
  ]);
  expect(span).toMatchObject({
    end: 'open',
    until: null,
    waits: [
      { from: 3, until: 8 },
      { from: 9, until: null },
    ],
  });
});

test('work without a claim has its own span; a span with a voluntary release does not end as lost', () => {
  expect(spansOf([step(1, 'status_changed', { to: 'planning', agent_id: null }), step(4, 'status_changed', { to: 'failed', agent_id: null })])).toMatchObject([
    { agent_id: null, from: 1, until: 4, end: 'failed' },
  ]);
  expect(spansOf([step(1, 'claimed'), step(2, 'released', { reason: 'released by its agent' })])).toMatchObject([{ end: 'released' }]);
  // The beginning of a span may be in an older part of the journal that was not read. The end alone creates no span.
  expect(spansOf([step(1, 'status_changed', { to: 'completed' })])).toEqual([]);
});
