import { expect, test } from 'vitest';
import { isOwnName } from './names.ts';
import { type FoundWorktree, isOrphanSession, isOrphanWorktree } from './orphans.ts';
import type { InstancePlace } from './store.ts';

const HERE = 'host:/home';
const path = '/code/app-worktrees/work-1-a1';
const place: InstancePlace = {
  session_name: 'work-1-a1',
  worktree_path: path,
  repository: '/code/app',
  machine: HERE,
  ended_at: null,
  step: null,
  kept_reason: null,
};
const over = { ...place, ended_at: 5 };
const found: FoundWorktree = { repository: '/code/app', path, branch: 'work/work-1-a1', owner: null };

test.each([
  ['work-1-a1', true],
  ['review-123-a12', true],
  ['planning-a1', true],
  ['adhoc-a3', true],
  ['beta_work-1-a1', true],
  ['my-team_adhoc-a1', true],
  ['mine', false],
  ['work-1', false],
  ['work-1-a0', false],
  ['_work-1-a1', false],
  ['Beta_work-1-a1', false],
  ['a_b_work-1-a1', false],
  ['work-1-a1 ', false],
])('%s is the name of an instance: %s', (name, expected) => {
  expect(isOwnName(name)).toBe(expected);
});

test.each<[string, readonly InstancePlace[], boolean]>([
  ['without an instance', [], true],
  ['of an ended instance', [over], true],
  ['of an ended instance while another is running', [over, { ...place, session_name: 'work-1-a11' }], true],
  ['of a running instance', [place], false],
  ['of an instance being stopped', [{ ...over, step: 'ending' }], false],
  ['of an instance started before its machine was renamed', [{ ...place, machine: 'renamed:/home' }], false],
])('a session %s is an orphan: %s', (_whose, places, expected) => {
  expect(isOrphanSession('work-1-a1', places)).toBe(expected);
});

test('a session whose name is not that of an instance is never an orphan', () => {
  expect(isOrphanSession('mine', [])).toBe(false);
});

test.each<[string, Partial<FoundWorktree>, readonly InstancePlace[], boolean]>([
  ['without an instance', {}, [], true],
  ['of an ended instance without kept work', {}, [over], true],
  ['that names this home', { owner: HERE }, [], true],
  ['of a running instance', {}, [place], false],
  ['of an ended instance with kept work', {}, [{ ...over, kept_reason: 'dirty' }], false],
  ['of an instance being cleaned', {}, [{ ...over, step: 'ending' }], false],
  ['of another home', { owner: 'host:/other' }, [], false],
  ['of another home, with an ended instance here', { owner: 'host:/other' }, [over], false],
  ['with another branch checked out', { branch: 'main' }, [], false],
  ['with the branch of another instance', { branch: 'work/work-1-a2' }, [], false],
  ['with a detached HEAD', { branch: null }, [], false],
  ['of a person', { path: '/code/app-worktrees/mine', branch: 'work/mine' }, [], false],
  ['in another folder', { path: '/elsewhere/work-1-a1' }, [], false],
  ['in a subfolder', { path: '/code/app-worktrees/deep/work-1-a1' }, [], false],
])('a worktree %s is an orphan: %#', (_whose, own, places, expected) => {
  expect(isOrphanWorktree({ ...found, ...own }, places, HERE)).toBe(expected);
});
