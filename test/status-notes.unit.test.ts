import { expect, test } from 'vitest';
import { statusNotes } from '../web/pages/workflows/status-notes.ts';

type Shown = Parameters<typeof statusNotes>[0];

test('a workflow says why it stands, and that a person is asked before all else', () => {
  const words = (status: string, next: object, more: { paused?: number; all_complete?: boolean; asking?: number } = {}) =>
    statusNotes({
      workflow: { status, status_reason: null },
      progress: { by_status: { paused: more.paused ?? 0 }, all_complete: more.all_complete ?? false },
      next: { available: 0, claimed: 0, max_parallel: 2, ...next },
      claims: Array.from({ length: more.asking ?? 0 }, () => ({ question_id: 'msg_1' })),
    } as unknown as Shown).map((each) => each.words);
  expect(words('in_progress', { available: 3, claimed: 1 })).toEqual([]);
  expect(words('in_progress', { available: 1 })).toEqual(['Nobody works on it: 1 task could be taken up.']);
  expect(words('in_progress', { available: 3, claimed: 2 })).toEqual(['3 tasks could be taken up, but 2 are claimed, and at most 2 may be at once.']);
  expect(words('in_progress', {}, { paused: 1 })).toEqual(['Nobody works on it: 1 task is paused, and all others wait for those.']);
  expect(words('in_progress', {}, { all_complete: true })).toEqual(['Every task is done. Complete it, or let an agent plan more.']);
  expect(words('paused', { claimed: 1 }, { asking: 2 })).toEqual([
    '2 tasks wait for an answer of yours.',
    'Paused: no further task is taken up until it is resumed.',
  ]);
});
