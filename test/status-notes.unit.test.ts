import { expect, test } from 'vitest';
import { statusNotes } from '../web/pages/workflows/status-notes.ts';

type Shown = Parameters<typeof statusNotes>[0];

test('explains why a workflow does not progress, starting with questions to a person', () => {
  const words = (status: string, next: object, more: { paused?: number; all_complete?: boolean; asking?: number } = {}) =>
    statusNotes({
      workflow: { status, status_reason: null },
      progress: { by_status: { paused: more.paused ?? 0 }, all_complete: more.all_complete ?? false },
      next: { available: 0, claimed: 0, max_parallel: 2, ...next },
      claims: Array.from({ length: more.asking ?? 0 }, () => ({ question_id: 'msg_1' })),
    } as unknown as Shown).map((each) => each.words);
  expect(words('in_progress', { available: 3, claimed: 1 })).toEqual([]);
  expect(words('in_progress', { available: 1 })).toEqual(['No agent is working on it. 1 task ready to claim.']);
  expect(words('in_progress', { available: 3, claimed: 2 })).toEqual(['3 tasks ready, but the limit of 2 parallel tasks is reached (2 claimed).']);
  expect(words('in_progress', {}, { paused: 1 })).toEqual(['No agent is working on it. 1 task paused; all other tasks wait for it.']);
  expect(words('in_progress', {}, { all_complete: true })).toEqual(['All tasks are done. Complete the workflow, or let an agent plan more.']);
  expect(words('paused', { claimed: 1 }, { asking: 2 })).toEqual(['2 tasks wait for your answer.', 'Paused. No new tasks are handed out until you resume it.']);
});
