import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const NAMES = ['covibe_task', 'covibe_session', 'task_claim', 'task_complete', 'echo', 'all', 'team'];

test('finds the name with the fewest typing errors [use.error.nearest]', () => {
  const found = Object.fromEntries(
    ['covibe_tsk', 'covibe_tasks', 'Covibe-Task', 'covibe.session', 'covieb_task', 'taks_claim', 'session', 'ecoh', 'al', 'tema'].map((word) => [
      word,
      nearest(word, NAMES),
    ]),
  );
  expect(found).toEqual({
    covibe_tsk: 'covibe_task',
    covibe_tasks: 'covibe_task',
    'Covibe-Task': 'covibe_task',
    'covibe.session': 'covibe_session',
    covieb_task: 'covibe_task',
    taks_claim: 'task_claim',
    session: 'covibe_session',
    ecoh: 'echo',
    al: 'all',
    tema: 'team',
  });
});

test('completes a name of which only the beginning or the end was typed, if just one fits [use.error.nearest]', () => {
  expect(nearest('task_com', NAMES)).toBe('task_complete');
  expect(nearest('claim', NAMES)).toBe('task_claim');
  expect(nearest('covibe', NAMES)).toBeUndefined();
});

test('suggests no name that differs too much [use.error.nearest]', () => {
  for (const word of ['', 'x', 'deploy', 'claim_everything', 'z'.repeat(1_000_000)]) expect(nearest(word, NAMES)).toBeUndefined();
  expect(nearest('covibe_task', [])).toBeUndefined();
});
