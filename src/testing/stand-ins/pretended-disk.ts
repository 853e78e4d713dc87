import { type FileDisk, fileDisk } from '../../machine/files.ts';
import { type GitDisk, gitDisk } from '../../machine/git/disk.ts';
import type { WorktreeState } from '../../machine/git/worktree-state.ts';

const COMMIT = 'a'.repeat(40);
const MERGE = 'b'.repeat(40);

/** Returns the state of a worktree that can be removed without losing work. */
export const cleanWorktree = (head: string, branch: string): WorktreeState => ({
  ...{ listed: true, exists: true, locked: null, dirty: null, inner: null, submodules: false, inProgress: null, unsaved: 0 },
  ...{ head, branch, branchTip: head },
});

const pretended: Partial<GitDisk> = {
  locateRepository: async (root) => ({ root, commonDir: `${root}/.git` }),
  listWorktrees: async () => [],
  startingPoint: async () => ({ branch: 'main', commit: COMMIT }),
  defaultBranch: async () => 'main',
  resolveCommit: async () => COMMIT,
  hasChanges: async () => true,
  addWorktree: async () => COMMIT,
  discardUnfinished: async () => {},
  removeWorktree: async () => {},
  deleteBranch: async () => true,
  prepareMerge: async () => ({ commit: MERGE, onto: COMMIT }),
  applyMerge: async () => true,
  worktreeState: async (_repository, _path, { branch }) => cleanWorktree(COMMIT, branch),
};

/**
 * A stand-in for git in which there is always something to review and no work can be lost. Tests that do not depend on git use it, because real git is slow.
 */
export const pretendedDisk: { disk: GitDisk; files: FileDisk } = {
  disk: { ...gitDisk, ...pretended },
  files: { ...fileDisk, makeFolder: async (folder, name) => `${folder}/${name}`, replaceFile: async () => {} },
};
