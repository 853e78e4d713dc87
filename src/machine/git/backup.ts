import { randomUUID } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitOptions, git, resolveCommit, runGit } from './git.ts';
import { gitOnFiles, submodulesIn } from './git-files.ts';
import { copyIndex } from './index-copy.ts';

const PREFIX = 'refs/covenant/backup/';
const AUTHOR = { name: 'Covenant', email: 'covenant@localhost' };

/**
 * Saves everything in a worktree except ignored files: its commits, staged changes and other changed files. The backup is a commit with its own ref, so it
 * does not need a branch. Like a commit by `git stash`, it contains the files, and its parents are HEAD and a commit of the index.
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

/** Backs up a single commit. Used if the worktree is gone and only its branch still exists. */
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
    // For a file in conflict, the index contains several versions, so the content on disk is used instead.
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
 * If the index contained a submodule, `git add` would run git in it with the submodule's own settings. So submodules are first removed from the copy of the
 * index. Those that are checked out are then added with their current commit, and the others are restored unchanged.
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

/** Returns an unused ref for a new backup, so that an earlier backup is not overwritten. */
export async function freeBackupRef(repository: string, name: string, options: GitOptions = {}): Promise<string> {
  const { stdout } = await runGit(repository, ['for-each-ref', '--format=%(refname)', PREFIX], { ...options, reads: true });
  const taken = new Set(stdout.split('\n'));
  for (let number = 1; ; number++) {
    const ref = `${PREFIX}${name}${number === 1 ? '' : `-${number}`}`;
    if (!taken.has(ref)) return ref;
  }
}
