import { randomUUID } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitOptions, git, resolveCommit, runGit } from './git.ts';
import { gitOnFiles, submodulesIn } from './git-files.ts';
import { copyIndex } from './index-copy.ts';

const PREFIX = 'refs/covenant/backup/';
const AUTHOR = { name: 'Covenant', email: 'covenant@localhost' };

/**
 * Saves everything in a worktree under a ref that needs no branch: commits, staged changes and the files themselves, except ignored ones. Structured
 * like `git stash`: the files on top of HEAD, with the index as a second parent.
 */
export async function backUp(worktree: string, name: string, branch: string, options: GitOptions = {}): Promise<string> {
  const tip = await resolveCommit(worktree, `refs/heads/${branch}`, options);
  const head = (await resolveCommit(worktree, 'HEAD', options)) ?? tip;
  const base = [...new Set([head, tip].filter((commit) => commit !== null))];
  const staged = await snapshot(worktree, 'staged', base, false, options);
  const files = await snapshot(worktree, 'files', [...base, staged], true, options);
  const ref = await freeBackupRef(worktree, name, options);
  await git(worktree, ['update-ref', '-m', 'covenant: backup', ref, files, '0'.repeat(files.length)], options);
  return ref;
}

/** Backs up a commit, for when only the branch is left of a worktree. */
export async function backUpCommit(repository: string, name: string, commit: string, options: GitOptions = {}): Promise<string> {
  const ref = await freeBackupRef(repository, name, options);
  await git(repository, ['update-ref', '-m', 'covenant: backup', ref, commit, '0'.repeat(commit.length)], options);
  return ref;
}

async function snapshot(worktree: string, what: string, parents: readonly string[], withFiles: boolean, options: GitOptions): Promise<string> {
  const folder = (await git(worktree, ['rev-parse', '--absolute-git-dir'], { ...options, reads: true })).replace(/\n$/, '');
  const index = join(folder, `covenant-${randomUUID()}.index`);
  const env = { GIT_INDEX_FILE: index };
  try {
    await copyIndex(join(folder, 'index'), index);
    // Files in conflict have several states in the index, so their content on disk is used.
    const inConflict = (await git(worktree, ['ls-files', '--unmerged', '-z'], { ...options, env, reads: true })) !== '';
    if (withFiles || inConflict) await addFiles(worktree, env, options);
    const tree = (await gitOnFiles(worktree, ['write-tree'], { ...options, env })).trim();
    const who = { GIT_AUTHOR_NAME: AUTHOR.name, GIT_AUTHOR_EMAIL: AUTHOR.email, GIT_COMMITTER_NAME: AUTHOR.name, GIT_COMMITTER_EMAIL: AUTHOR.email };
    const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])];
    return (await git(worktree, args, { ...options, env: who, input: `Backup: ${what}\n` })).trim();
  } finally {
    for (const path of [index, `${index}.lock`]) await rm(path, { force: true });
  }
}

/**
 * For a submodule in the index, `git add` would run that submodule's git with its own settings. So submodules are first removed from the index copy.
 * Submodules that are checked out are then added at their commit, like any other repository. The others are restored unchanged.
 */
async function addFiles(worktree: string, env: { GIT_INDEX_FILE: string }, options: GitOptions): Promise<void> {
  const submodules = await submodulesIn(worktree, { ...options, env });
  const change = async (lines: readonly string[]) => {
    if (lines.length > 0)
      await gitOnFiles(worktree, ['update-index', '-z', '--index-info'], { ...options, env, input: lines.map((line) => `${line}\0`).join('') });
  };
  await change(submodules.map(({ path, commit }) => `0 ${'0'.repeat(commit.length)}\t${path}`));
  await gitOnFiles(worktree, ['add', '--all', '--ignore-errors', '--', ':/'], { ...options, env });
  const added = new Set((await submodulesIn(worktree, { ...options, env })).map(({ path }) => path));
  const left: string[] = [];
  for (const { path, commit, isThere } of submodules) {
    const hasFolder = !isThere && (await lstat(join(worktree, path)).catch(() => null))?.isDirectory();
    if (hasFolder && !added.has(path)) left.push(`160000 ${commit} 0\t${path}`);
  }
  await change(left);
}

/** An unused ref for a new backup, so that no earlier backup is overwritten. */
export async function freeBackupRef(repository: string, name: string, options: GitOptions = {}): Promise<string> {
  const { stdout } = await runGit(repository, ['for-each-ref', '--format=%(refname)', PREFIX], { ...options, reads: true });
  const taken = new Set(stdout.split('\n'));
  for (let number = 1; ; number++) {
    const ref = `${PREFIX}${name}${number === 1 ? '' : `-${number}`}`;
    if (!taken.has(ref)) return ref;
  }
}
