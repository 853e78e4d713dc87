import { expect, test } from 'vitest';
import { withoutPaint } from '../output.ts';
import { endedLines, type InstanceAnswer, type ListedInstance, listLines, newLines, showLines } from './instances-text.ts';

const MARK = { good: '✓', bad: '\u001b[31m✗\u001b[0m', wait: '!', quiet: '○' };
const NOW = 1_000_000;
const INSTANCE: ListedInstance = {
  ...{ id: 'work-7-a1', type: 'coding', status: 'waiting_review', agent: 'claude', agent_id: 'ag_1', developer: 'ana', repository: '/srv/app' },
  ...{ branch: 'work/work-7-a1', base_branch: 'main', worktree_path: '/srv/app-worktrees/work-7-a1', machine: 'here:/h', session_name: 'work-7-a1' },
  ...{
    session_kind: 'tmux',
    running: true,
    issue_number: 7,
    pr_number: null,
    pr_url: null,
    parent_instance_id: null,
    review_iteration: null,
    reviews: 2,
    max_reviews: 3,
  },
  ...{
    extra_reviews: 0,
    failed_reviews: 1,
    max_failed_reviews: 5,
    at_limit: false,
    suggestions: [],
    status_reason: null,
    kept_reason: null,
    backup_ref: null,
    created_by: 'operator',
  },
  ...{ created_at: NOW - 120_000, updated_at: NOW, last_activity: NOW - 8_000, ended_at: null },
};
const SHOWN: InstanceAnswer = { instance: INSTANCE, prompt: 'x', attach: ['tmux'], relationships: [], feedback: [], failures: [] };

test('lists each instance with its type, its status, its kind of session and the instance that it reviews', () => {
  const review: ListedInstance = {
    ...INSTANCE,
    id: 'review-7-a2',
    type: 'review',
    status: 'started',
    parent_instance_id: 'work-7-a1',
    pr_number: 12,
    running: false,
  };
  expect(listLines({ items: [INSTANCE, review], total: 5 }, NOW).split('\n')).toEqual([
    'INSTANCE     TYPE    STATUS          RUNS IN  REVIEWS  PR   REVIEW OF  ACTIVE  REPOSITORY',
    'work-7-a1    coding  waiting_review  tmux     2/3      —    —          8 s     /srv/app',
    'review-7-a2  review  started         —        —        #12  work-7-a1  8 s     /srv/app',
    '(the newest 2 of 5)',
  ]);
  expect(listLines({ items: [], total: 0 }, NOW)).toContain('next: covenant instances start --repo . --type coding');
});

test('shows an instance with its reviews, feedback and failures, and the suggestions at its review limit', () => {
  const text = showLines(
    {
      ...SHOWN,
      instance: { ...INSTANCE, at_limit: true, suggestions: ['Create pull request with current work'], status_reason: 'stopped by ana:\nno' },
      relationships: [
        {
          ...{ parent_instance: 'work-7-a1', child_instance: 'review-7-a1', relationship_type: 'spawned_review', review_iteration: 1 },
          ...{ outcome: 'needs_work', created_at: 1, ended_at: 2 },
        },
      ],
      feedback: [
        {
          ...{ feedback_id: 'fb_1', review_instance_id: 'review-7-a1', review_iteration: 1, feedback_type: 'needs_work', priority: 'high' },
          ...{
            feedback: 'Two\nlines',
            actionable_items: ['Fix\nit'],
            git_commit_hash: null,
            delivered: 'message',
            reason: 'a rebase is in progress',
          },
          created_at: 1,
        },
      ],
      failures: [{ time: NOW - 60_000, tool: 'request_review', code: 'NO_CHANGES', request_id: 'req_1', branch: 'work/work-7-a1', commit: 'a'.repeat(40) }],
    },
    MARK,
    NOW,
  );
  expect(text.split('\n')).toEqual([
    'work-7-a1  coding, waiting_review: stopped by ana: no',
    '  agent claude for ana, in the tmux session work-7-a1; started 2 m ago by operator',
    '  branch work/work-7-a1 from main, in /srv/app-worktrees/work-7-a1',
    '  2 of at most 3 reviews, 1 of 5 failed',
    '  ! at its review limit',
    '      Create pull request with current work',
    '  review 1 of work-7-a1: review-7-a1, needs_work',
    '  review-7-a1 says needs_work (high), delivered as a message: a rebase is in progress',
    '    Two',
    '    lines',
    '    - Fix it',
    `  ${MARK.bad} request_review failed 1 m ago: NO_CHANGES, at work/work-7-a1 aaaaaaaaaaaa (req_1)`,
    '    next: covenant instances attach work-7-a1',
  ]);
});

test('reports whether the worktree of an ended instance was removed, and where its work is', () => {
  const instance: ListedInstance = { ...INSTANCE, status: 'terminated' };
  const kept = endedLines({ instance, worktree: 'kept', reason: '1 file(s) untracked', backup_ref: null }, 'Stopped', MARK);
  expect(kept).toMatch(
    /^Stopped work-7-a1\. Its status is terminated\.\n! Its worktree was kept: 1 file\(s\) untracked\.\n {4}next: .*covenant instances clean work-7-a1/,
  );
  const gone = endedLines({ instance, worktree: 'removed', reason: null, backup_ref: 'refs/covenant/backup/work-7-a1' }, 'Cleaned up', MARK);
  expect(gone).toContain('git show refs/covenant/backup/work-7-a1');
  expect(endedLines({ instance, worktree: 'removed', reason: null, backup_ref: null }, 'Stopped', MARK)).toContain('Its worktree was removed.');
});

test('removes control sequences from a log, and returns only the lines that are new', () => {
  expect(withoutPaint('\u001b[31mred\u001b[0m\r\nnext\u0007')).toBe('red\nnext\u0007');
  expect(newLines([], ['a', 'b'])).toEqual(['a', 'b']);
  expect(newLines(['a', 'b'], ['a', 'b', 'c'])).toEqual(['c']);
  expect(newLines(['a', 'b', 'c'], ['b', 'c', 'd', 'e'])).toEqual(['d', 'e']);
  expect(newLines(['a', 'b'], ['a', 'b'])).toEqual([]);
  expect(newLines(['a', 'b'], ['x', 'y'])).toEqual(['x', 'y']);
});
