import { expect, test } from 'vitest';
import { cleanWorktree } from '../../testing/stand-ins/pretended-disk.ts';
import { reasonToKeep } from './reason-to-keep.ts';
import type { WorktreeState } from './worktree-state.ts';

test('keeps a worktree if anything would be lost, and lists everything that would be lost', () => {
  const why = (change: Partial<WorktreeState>) => reasonToKeep({ ...cleanWorktree('a', 'own'), ...change }, { branch: 'own', base_branch: 'main' });
  expect(why({})).toBe(null);
  expect(why({ listed: false, exists: false, head: null, branch: null })).toBe(null);
  expect(why({ listed: false, branch: null })).toContain('not a worktree of the repository');
  expect(why({ locked: 'on a stick' })).toBe('it is locked (on a stick)');
  expect(why({ inProgress: 'rebase' })).toBe('a rebase is in progress');
  expect(why({ inner: '.inner/two/' })).toBe('it contains another repository or worktree (.inner/two/)');
  expect(why({ submodules: true })).toBe('it has submodules, and git keeps their commits inside it');
  expect(why({ branch: null })).toBe('its HEAD is detached');
  expect(why({ branch: 'other' })).toBe('branch other is checked out in it');
  expect(why({ dirty: '1 file(s) untracked', unsaved: 2 })).toBe(
    '1 file(s) untracked; 2 commit(s) are not in main, not in a merge commit on a permanent branch, and not on a remote',
  );
});
