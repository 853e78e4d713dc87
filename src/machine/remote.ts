import { type GitOptions, git, resolveCommit, runGit } from './git.ts';

/** Which repository of which host a remote address is of. */
export interface RemoteRepository {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
}

/** `https://host/owner/repo.git`, `ssh://git@host/owner/repo`, `git@host:owner/repo.git`; null for anything else, such as a folder. */
export function readRemote(address: string): RemoteRepository | null {
  const url = /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(address);
  const scp = /^(?:[^@/:]+@)?([^/:]+):([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(address);
  const [, host, owner, repo] = url ?? scp ?? [];
  return host && owner && repo ? { host, owner, repo } : null;
}

/** The address of `origin`; null where there is none. */
export async function originOf(repository: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['config', '--get', 'remote.origin.url'], { ...options, reads: true, answers: [1] });
  return code === 0 ? stdout.trim() : null;
}

/** The branch that everybody's work goes to: what `origin` says, else `main` or `master`. */
export async function defaultBranch(repository: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'], { ...options, reads: true, answers: [1] });
  if (code === 0) return stdout.trim().replace(/^refs\/remotes\/origin\//, '');
  for (const name of ['main', 'master']) if (await resolveCommit(repository, `refs/heads/${name}`, options)) return name;
  return null;
}

/** Commits that the branch has and the base has not, and whether their content differs at all. */
export async function hasChanges(repository: string, base: string, branch: string, options: GitOptions = {}): Promise<boolean> {
  const { code } = await runGit(repository, ['diff', '--quiet', `${base}...${branch}`, '--'], { ...options, reads: true, answers: [1] });
  return code === 1;
}

const PUSH_MS = 120_000;

/** The commit at which `origin` has the branch, asked there; null: it has none of that name. */
export async function remoteBranch(repository: string, branch: string, options: GitOptions = {}): Promise<string | null> {
  const said = await git(repository, ['ls-remote', '--heads', 'origin', `refs/heads/${branch}`], { timeoutMs: PUSH_MS, ...options, reads: true });
  return said.split('\t')[0] || null;
}

/** To a branch of the same name, never by force. */
export async function pushBranch(repository: string, branch: string, options: GitOptions = {}): Promise<void> {
  await git(repository, ['push', '--quiet', '--porcelain', 'origin', `refs/heads/${branch}:refs/heads/${branch}`], { timeoutMs: PUSH_MS, ...options });
}
