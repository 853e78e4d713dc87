import { type FileDisk, fileDisk } from '../../machine/files.ts';
import type { GitDisk } from '../../machine/git/disk.ts';
import type { GitHub, GitHubIssue, Pull } from '../../machine/github/github.ts';
import { pretendedDisk } from '../stand-ins/pretended-disk.ts';

const COMMIT = 'a'.repeat(40);
const ADDRESS = 'https://github.com/acme/app.git';

/** A stand-in for git in which everything exists and every request succeeds. It starts no process and touches no file. */
export const agreeableGit: GitDisk = {
  ...pretendedDisk.disk,
  currentBranch: async () => 'main',
  commitByHash: async () => COMMIT,
  requireBranchName: async () => {},
  hasWorktree: async () => true,
  uncommitted: async () => null,
  uncommittedCounts: async () => ({ changed: 0, untracked: 0, hidden: 0 }),
  forceWorktreeAway: async () => {},
  backUp: async () => 'refs/covenant/backup/one',
  backUpCommit: async () => 'refs/covenant/backup/one',
  backupRefFor: async () => 'refs/covenant/backup/one',
  mergeBase: async () => COMMIT,
  changedFiles: async () => [{ path: 'src/a.ts', before: null, change: 'modified', added: 1, removed: 1, binary: false, uncommitted: false }],
  patchOf: async () => '@@ -1 +1 @@\n-a\n+b\n',
  originOf: async () => ADDRESS,
  remoteBranch: async () => COMMIT,
  fetchBranch: async () => {},
  pushBranch: async () => {},
};

/** File operations that are real only in this folder, which receives the files of cycles. In other folders they do nothing. */
export const filesOnlyIn = (folder: string): FileDisk => ({
  ...fileDisk,
  makeFolder: (root, ...names) => (root.startsWith(folder) ? fileDisk.makeFolder(root, ...names) : pretendedDisk.files.makeFolder(root, ...names)),
  replaceFile: (path, ...rest) => (path.startsWith(folder) ? fileDisk.replaceFile(path, ...rest) : pretendedDisk.files.replaceFile(path, ...rest)),
});

export function agreeableGitHub(): GitHub {
  let number = 0;
  const pulls: Pull[] = [];
  const issues: GitHubIssue[] = [];
  return {
    host: 'github.com',
    hasToken: true,
    repositoryAt: () => ({ owner: 'acme', repo: 'app' }),
    gitAccess: () => undefined,
    openPulls: async () => [],
    pull: async (_, wanted) => pulls.find((pull) => pull.number === wanted) as Pull,
    async createPull(_, _branch, { base }) {
      const pull: Pull = { number: ++number, url: `https://github.com/acme/app/pull/${number}`, base, state: 'open' };
      pulls.push(pull);
      return pull;
    },
    changePull: async (_, wanted) => pulls.find((pull) => pull.number === wanted) as Pull,
    async createIssue(_, { body }) {
      const issue: GitHubIssue = { number: ++number, url: `https://github.com/acme/app/issues/${number}`, body };
      issues.push(issue);
      return issue;
    },
    issuesSince: async () => issues.slice(-100),
  };
}
