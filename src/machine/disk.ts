import { commitByHash, resolveCommit } from './git.ts';
import { locateRepository, startingPoint } from './repository.ts';
import { addWorktree, deleteBranch, discardUnfinished, hasWorktree, removeWorktree } from './worktree.ts';
import { worktreeState } from './worktree-state.ts';

/** What the server does to repositories on its machine: one value, so that a test can cut the power between two of its steps. */
export const gitDisk = {
  locateRepository,
  startingPoint,
  resolveCommit,
  commitByHash,
  hasWorktree,
  addWorktree,
  discardUnfinished,
  worktreeState,
  removeWorktree,
  deleteBranch,
};
export type GitDisk = typeof gitDisk;
