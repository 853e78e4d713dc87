import { resolve } from 'node:path';
import { git, resolveCommit } from '../../../machine/git/git.ts';

/** The maximum number of commits that are checked for each pushed branch. */
export const MAX_COMMITS = 2_000;
const TIMEOUT_MS = 10_000;

export interface CommittedPaths {
  readonly paths: readonly string[];
  /** Whether the push contains more commits than were checked. */
  readonly beyond: boolean;
}

/** Returns the variables with which git tells a hook the repository and the index. If only some files are committed, git uses a separate index. */
function given(env: NodeJS.ProcessEnv, folder: string): Record<string, string> {
  const index = env.GIT_INDEX_FILE;
  return {
    ...(env.GIT_DIR && { GIT_DIR: resolve(folder, env.GIT_DIR) }),
    ...(env.GIT_WORK_TREE && { GIT_WORK_TREE: resolve(folder, env.GIT_WORK_TREE) }),
    ...(index && { GIT_INDEX_FILE: resolve(folder, index) }),
  };
}

const looking = (env: NodeJS.ProcessEnv, folder: string) => ({ env: given(env, folder), reads: true, timeoutMs: TIMEOUT_MS }) as const;

const names = (said: string): string[] => [...new Set(said.split('\0').map((name) => name.replace(/^\n+/, '')))].filter((name) => name !== '');

/**
 * Returns the paths that the commit changes or deletes. For a renamed file, returns
 * both names. For a merge, returns only the paths that differ from both parents.
 */
export async function stagedPaths(env: NodeJS.ProcessEnv, folder: string): Promise<CommittedPaths> {
  const options = looking(env, folder);
  const changed = async (from: string) =>
    names(await git(folder, ['diff-index', '--cached', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', from, '--'], options));
  const head = await resolveCommit(folder, 'HEAD', options);
  // If there is no commit yet, the staged files are compared with the empty tree.
  const staged = await changed(head ?? (await git(folder, ['hash-object', '-t', 'tree', '--stdin'], { ...options, input: '' })).trim());
  if (!(await resolveCommit(folder, 'MERGE_HEAD', options))) return { paths: staged, beyond: false };
  const fromTheirs = new Set(await changed('MERGE_HEAD'));
  return { paths: staged.filter((path) => fromTheirs.has(path)), beyond: false };
}

const NOTHING = /^0+$/;

/** Returns the paths that the pushed commits change. Each line of `lines` comes from git and contains a local ref, its commit, a remote ref and its commit. */
export async function pushedPaths(env: NodeJS.ProcessEnv, folder: string, remote: string | undefined, lines: string): Promise<CommittedPaths> {
  const options = looking(env, folder);
  const paths = new Set<string>();
  let beyond = false;
  for (const line of lines.split('\n')) {
    const [, local, , known] = line.split(' ');
    if (!local || !known || !isCommit(local) || !isCommit(known) || NOTHING.test(local)) continue;
    const there = remote !== undefined && /^[\w.-]+$/.test(remote) && !remote.startsWith('-') ? [`--remotes=${remote}`] : ['--remotes'];
    const has = NOTHING.test(known) ? false : await hasCommit(folder, known, options);
    const range = [local, '--not', ...(has ? [known] : []), ...there, '--'];
    const args = ['log', '-z', '--format=', '--name-only', '--no-renames', '--no-ext-diff', '--no-textconv', '-c', `--max-count=${MAX_COMMITS}`, ...range];
    for (const path of names(await git(folder, args, options))) paths.add(path);
    beyond ||= Number(await git(folder, ['rev-list', '--count', `--max-count=${MAX_COMMITS + 1}`, ...range], options)) > MAX_COMMITS;
  }
  return { paths: [...paths], beyond };
}

const isCommit = (hash: string): boolean => /^[0-9a-f]{40,64}$/.test(hash);

/** Returns whether the commit exists in this repository. The remote may have commits that were never fetched. */
async function hasCommit(folder: string, hash: string, options: ReturnType<typeof looking>): Promise<boolean> {
  try {
    await git(folder, ['cat-file', '-e', `${hash}^{commit}`], options);
    return true;
  } catch {
    return false;
  }
}
