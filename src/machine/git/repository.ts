import { existsSync, realpathSync } from 'node:fs';
import { GitFailed, type GitOptions, git, resolveCommit, runGit } from './git.ts';
import { rootOf } from './git-files.ts';

/** No worktree can be created from this folder, for example because it is not in a git repository. */
export class RepositoryUnfit extends Error {
  override readonly name = 'RepositoryUnfit';
  readonly why: 'missing' | 'not_git' | 'detached' | 'empty';

  constructor(why: RepositoryUnfit['why'], message: string) {
    super(message);
    this.why = why;
  }
}

export interface LocatedRepository {
  /** The top of the working tree, without symbolic links. */
  readonly root: string;
  /** The folder with the repository's objects and branches. For a linked worktree, it is outside the working tree. */
  readonly commonDir: string;
}

/** Returns the repository whose working tree contains the folder. */
export async function locateRepository(folder: string, options: GitOptions = {}): Promise<LocatedRepository> {
  if (!existsSync(folder)) throw new RepositoryUnfit('missing', `the folder ${folder} does not exist on the server's machine`);
  try {
    const said = await git(folder, ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'], { ...options, reads: true });
    const [root = '', commonDir = '', ...more] = said.split('\n');
    // The output cannot be split reliably: the first part of the path could be the path of another repository.
    if (more.length > 1) throw new RepositoryUnfit('not_git', `${folder}: the path of its repository contains a line break`);
    // The folders must be equal, because with core.worktree a repository can claim any folder as its working tree.
    if (root !== realpathSync(rootOf(folder))) throw new RepositoryUnfit('not_git', `${folder}: its configuration names ${root} as its folder`);
    return { root, commonDir };
  } catch (error) {
    if (error instanceof GitFailed) throw new RepositoryUnfit('not_git', `${folder}: ${error.message}`);
    throw error;
  }
}

/** Returns the branch that is checked out, or null if HEAD is detached. */
export async function currentBranch(repository: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['symbolic-ref', '--quiet', 'HEAD'], { ...options, reads: true, answers: [1] });
  return code === 0 ? stdout.trim().replace(/^refs\/heads\//, '') : null;
}

/** Returns the branch into which work is merged: the default branch of `origin`, otherwise `main` or `master`. */
export async function defaultBranch(repository: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'], { ...options, reads: true, answers: [1] });
  if (code === 0) return stdout.trim().replace(/^refs\/remotes\/origin\//, '');
  for (const name of ['main', 'master']) if (await resolveCommit(repository, `refs/heads/${name}`, options)) return name;
  return null;
}

/** Returns the branch that new work starts from, which is the one that is checked out, and its commit. */
export async function startingPoint(repository: string, options: GitOptions = {}): Promise<{ branch: string; commit: string }> {
  const branch = await currentBranch(repository, options);
  if (branch === null) throw new RepositoryUnfit('detached', `HEAD of ${repository} is detached, so there is no branch to start from`);
  const commit = await resolveCommit(repository, `refs/heads/${branch}`, options);
  if (commit === null) throw new RepositoryUnfit('empty', `branch ${branch} of ${repository} has no commit yet`);
  return { branch, commit };
}
