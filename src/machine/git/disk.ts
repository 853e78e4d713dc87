import { backUp, backUpCommit, freeBackupRef } from './backup.ts';
import { changedFiles, hasChanges, mergeBase, patchOf } from './diff.ts';
import { commitByHash, requireBranchName, resolveCommit } from './git.ts';
import { listWorktrees } from './list-worktrees.ts';
import { applyMerge, prepareMerge } from './merge-file.ts';
import { fetchBranch, originOf, pushBranch, remoteBranch } from './remote.ts';
import { currentBranch, defaultBranch, locateRepository, startingPoint } from './repository.ts';
import { addWorktree, deleteBranch, discardUnfinished, forceWorktreeAway, hasWorktree, removeWorktree } from './worktree.ts';
import { uncommitted, uncommittedCounts, worktreeState } from './worktree-state.ts';

/** All operations on repositories are in one object, so that a test can simulate a power failure between two of them. */
export const gitDisk = {
  locateRepository,
  startingPoint,
  currentBranch,
  resolveCommit,
  commitByHash,
  requireBranchName,
  hasWorktree,
  listWorktrees,
  addWorktree,
  discardUnfinished,
  worktreeState,
  uncommitted,
  uncommittedCounts,
  removeWorktree,
  forceWorktreeAway,
  deleteBranch,
  backUp,
  backUpCommit,
  backupRefFor: freeBackupRef,
  mergeBase,
  changedFiles,
  patchOf,
  defaultBranch,
  hasChanges,
  originOf,
  remoteBranch,
  fetchBranch,
  pushBranch,
  prepareMerge,
  applyMerge,
};
export type GitDisk = typeof gitDisk;
