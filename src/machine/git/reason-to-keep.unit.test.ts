import { expect, test } from 'vitest';
import { cleanWorktree } from '../../testing/stand-ins/pretended-disk.ts';
import { reasonToKeep } from './reason-to-keep.ts';
import type { WorktreeState } from './worktree-state.ts';

test('a worktree stays for every single thing that would be lost, and all are named', () => {
  const why = (change: Partial<WorktreeState>) => reasonToKeep({ ...cleanWorktree('a', 'own'), ...change }, { branch: 'own', base_branch: 'main' });
  expect(why({})).toBe(null);
  expect(why({ listed: false, exists: false, head: null, branch: null })).toBe(null);
  expect(why({ listed: false, branch: null })).toContain('not a worktree of the repository');
  expect(why({ locked: 'on a stick' })).toBe('it is locked (on a stick)');
  expect(why({ inProgress: 'rebase' })).toBe('a rebase is in progress');
  expect(why({ inner: '.inner/two/' })).toBe('another repository or worktree lies in it (.inner/two/)');
  expect(why({ submodules: true })).toBe('it has submodules, whose commits git keeps with it');
  expect(why({ branch: null })).toBe('its HEAD is detached');
  expect(why({ branch: 'other' })).toBe('branch other is checked out in it');
  expect(why({ dirty: '1 file(s) untracked', unsaved: 2 })).toBe(
    '1 file(s) untracked; 2 commit(s) are neither in main, in a merge commit on a lasting branch, nor on a remote',
  );
});
