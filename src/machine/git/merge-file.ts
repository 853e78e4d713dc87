import { link, lstat, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileDisk } from '../files.ts';
import { type GitOptions, git, resolveCommit, runGit } from './git.ts';
import { gitOnFiles } from './git-files.ts';
import { copyIndex } from './index-copy.ts';
import { listWorktrees } from './list-worktrees.ts';
import { currentBranch } from './repository.ts';
import { unfinishedOperation } from './worktree-state.ts';

/** Adds one file to a branch while someone is working on it, as a merge commit. Does not touch edits, staged changes or a commit in progress. */

/** The file could not be merged without affecting someone else's changes. Nothing was changed. */
export class MergeImpossible extends Error {
  override readonly name = 'MergeImpossible';
}

export interface FileMerge {
  /** The worktree in which the branch is checked out. */
  readonly worktree: string;
  readonly branch: string;
  /** The name of the file, which is at the top of the worktree. */
  readonly file: string;
  readonly text: string;
  /** The commit that the text is about. The merged commit is created on top of it, so that the merge adds only the file. */
  readonly about: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly subject: string;
  /** Part of the names of temporary files next to the index, so that a retry after a crash finds them. */
  readonly key: string;
}

/** A merge commit that was created but is not on a branch yet. */
export interface PreparedMerge {
  readonly commit: string;
  /** The commit that the branch points to. */
  readonly onto: string;
}

export async function prepareMerge(merge: FileMerge, options: GitOptions = {}): Promise<PreparedMerge> {
  const { worktree, branch, file, about } = merge;
  await requireOpen(merge, options);
  const onto = await resolveCommit(worktree, `refs/heads/${branch}`, options);
  if (onto === null) throw new MergeImpossible(`the branch ${branch} does not exist`);
  const blob = (await git(worktree, ['hash-object', '-w', '--no-filters', '--stdin'], { ...options, input: merge.text })).trim();
  // If the author has since removed the commit from the branch, the merge must not bring it back.
  const side = (await contains(worktree, onto, about, options)) ? about : onto;
  const brought = await commitTree(merge, await treeWith(worktree, side, file, blob, options), [side], options);
  const commit = await commitTree(merge, await treeWith(worktree, onto, file, blob, options), [onto, brought], options);
  return { commit, onto };
}

/**
 * Moves the branch to the prepared merge and writes the file. Returns false if the branch has moved in the meantime. The merge must then be prepared again.
 * After a crash, call it again to continue.
 */
export async function applyMerge(merge: FileMerge, { commit, onto }: PreparedMerge, options: GitOptions = {}): Promise<boolean> {
  const { worktree, branch, file, text } = merge;
  const index = await indexOf(merge, options);
  const tip = await resolveCommit(worktree, `refs/heads/${branch}`, options);
  const isIn = tip !== null && (await contains(worktree, tip, commit, options));
  if (isIn && !(await index.isHeld())) {
    await index.tidy();
    return true;
  }
  if (!isIn && tip !== onto) {
    await index.release();
    return false;
  }
  await index.hold(options.signal);
  try {
    if (!isIn) await requireOpen(merge, options);
    await index.stage(commit, file);
    if (!isIn && !(await moveBranch(merge, onto, commit, options))) return false;
    try {
      // An earlier process may have crashed here and left a temporary file.
      await fileDisk.removeLeftovers(worktree);
      if (!(await isTouched(merge, 'edited', options))) await fileDisk.replaceFile(join(worktree, file), text);
      await index.put();
    } catch (error) {
      // Undo the merge. If the branch had the file but the index did not, the author's next commit would remove the file.
      await moveBranch(merge, commit, onto, options);
      await takeFileBack(merge, options);
      throw error;
    }
    return true;
  } finally {
    await index.release();
  }
}

/** Returns false if another commit has moved the branch. That commit may have been in progress when the index was locked. */
async function moveBranch({ worktree, branch, subject }: FileMerge, from: string, to: string, options: GitOptions): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  try {
    await git(worktree, ['update-ref', '-m', `merge: ${subject}`, ref, to, from], options);
    return true;
  } catch (error) {
    if ((await resolveCommit(worktree, ref, options)) === from) throw error;
    return false;
  }
}

/** Restores the file from the index. Removes it if the index does not contain it. */
async function takeFileBack(merge: FileMerge, options: GitOptions): Promise<void> {
  if (!(await isOurs(merge))) return;
  await rm(join(merge.worktree, merge.file));
  await gitOnFiles(merge.worktree, ['checkout-index', '--quiet', '--', merge.file], { ...options, answers: [1, 128] });
}

/** Throws unless the branch is checked out, no merge or rebase is unfinished, and the file has no edits or uncommitted changes. */
async function requireOpen(merge: FileMerge, options: GitOptions): Promise<void> {
  const { worktree, branch, file } = merge;
  const checkedOut = await currentBranch(worktree, options);
  if (checkedOut !== branch) throw new MergeImpossible(`${checkedOut ?? 'a detached HEAD'} is checked out there instead of ${branch}`);
  // If the branch is checked out twice, git would report the file as deleted in the other worktree.
  const places = (await listWorktrees(worktree, options)).filter((one) => one.branch === branch);
  if (places.length > 1) throw new MergeImpossible(`${branch} is checked out in ${places.length} worktrees`);
  const halfDone = await unfinishedOperation(worktree, options);
  if (halfDone !== null) throw new MergeImpossible(`a ${halfDone} is in progress there`);
  if (await isTouched(merge, 'staged or edited', options)) throw new MergeImpossible(`${file} has changes there that are not committed`);
}

/**
 * Whether someone has changed the file. In some cases git reports no change: for files marked as unchanged, for empty folders, and for names that differ only
 * in case on a case-insensitive disk. In these cases the file counts as changed if it exists.
 */
async function isTouched(merge: FileMerge, how: 'staged or edited' | 'edited', options: GitOptions): Promise<boolean> {
  const { worktree, file } = merge;
  const only = ['--', `:(top,literal)${file}`];
  const said = await gitOnFiles(worktree, ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--ignored', '--no-renames', ...only], {
    ...options,
    reads: true,
  });
  const states = said.split('\0').filter((entry) => entry !== '' && (how === 'staged or edited' || entry[1] !== ' '));
  const isVouchedFor = (await git(worktree, ['ls-files', '-v', '-z', ...only], { ...options, reads: true })).startsWith('H ');
  return (states.length > 0 || (!isVouchedFor && (await kindOf(merge)) !== null)) && !(await isOurs(merge));
}

/** Returns the kind of the file, or null if it does not exist. A symbolic link is not followed. */
const kindOf = async ({ worktree, file }: FileMerge): Promise<'file' | 'other' | null> =>
  await lstat(join(worktree, file)).then(
    (found) => (found.isFile() ? 'file' : 'other'),
    () => null,
  );

const isOurs = async (merge: FileMerge): Promise<boolean> =>
  (await kindOf(merge)) === 'file' && (await fileDisk.readText(join(merge.worktree, merge.file)).catch(() => null)) === merge.text;

/** Returns a copy of a commit's tree in which one file at the top was added or replaced. */
async function treeWith(worktree: string, commit: string, file: string, blob: string, options: GitOptions): Promise<string> {
  const entries = (await git(worktree, ['ls-tree', '-z', '--full-tree', commit], { ...options, reads: true })).split('\0').filter((entry) => entry !== '');
  const nameOf = (entry: string) => entry.slice(entry.indexOf('\t') + 1);
  const there = entries.find((entry) => nameOf(entry) === file);
  if (there && !/^\d+ blob /.test(there)) throw new MergeImpossible(`${file} is a folder there`);
  const input = [...entries.filter((entry) => entry !== there), `100644 blob ${blob}\t${file}`].join('\0');
  return (await git(worktree, ['mktree', '-z'], { ...options, input: `${input}\0` })).trim();
}

async function commitTree({ worktree, subject, author }: FileMerge, tree: string, parents: readonly string[], options: GitOptions): Promise<string> {
  const env = { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email, GIT_COMMITTER_NAME: author.name, GIT_COMMITTER_EMAIL: author.email };
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])];
  return (await git(worktree, args, { ...options, env, input: `${subject}\n` })).trim();
}

async function contains(worktree: string, tip: string, commit: string, options: GitOptions): Promise<boolean> {
  return (await runGit(worktree, ['merge-base', '--is-ancestor', commit, tip], { ...options, reads: true, answers: [1, 128] })).code === 0;
}

const TRIES = 100;
const BETWEEN_TRIES_MS = 100;

/**
 * Locks the worktree's index as git does: while `index.lock` exists, other git processes cannot stage or commit. Our lock is a hard link to another file of
 * ours, so that even after a crash we can distinguish it from a lock by git.
 */
async function indexOf({ worktree, key }: FileMerge, options: GitOptions) {
  const folder = (await git(worktree, ['rev-parse', '--absolute-git-dir'], { ...options, reads: true })).replace(/\n$/, '');
  const index = join(folder, 'index');
  const lock = join(folder, 'index.lock');
  const own = join(folder, `covenant-${key}.lock-of-index`);
  const next = join(folder, `covenant-${key}.index`);
  const inode = async (path: string) =>
    await stat(path).then(
      ({ ino }) => ino,
      () => null,
    );
  const isHeld = async () => {
    const mine = await inode(own);
    return mine !== null && mine === (await inode(lock));
  };
  const tidy = async () => {
    for (const path of [own, next, `${next}.lock`]) await rm(path, { force: true });
  };
  return {
    isHeld,
    tidy,
    async hold(signal: AbortSignal | undefined): Promise<void> {
      if (await isHeld()) return;
      await tidy();
      await (await open(own, 'wx')).close();
      for (let attempt = 1; ; attempt++) {
        try {
          return await link(own, lock);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
          if (attempt < TRIES) await sleep(BETWEEN_TRIES_MS, undefined, signal ? { signal } : {});
          else throw new MergeImpossible('another git has locked its index for too long');
        }
      }
    },
    /** Prepares an index that contains all staged entries and, in addition, the file from the commit. */
    async stage(commit: string, file: string): Promise<void> {
      await copyIndex(index, next);
      const [, , blob] = (await git(worktree, ['ls-tree', '-z', '--full-tree', commit, '--', file], { ...options, reads: true })).split(/[ \t]/);
      await gitOnFiles(worktree, ['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`], { ...options, env: { GIT_INDEX_FILE: next } });
      await writeFile(own, await readFile(next), { flush: true });
    },
    /** Renames the lock file to the index, as git does. */
    async put(): Promise<void> {
      if (!(await isHeld())) throw new MergeImpossible('the lock of its index was removed meanwhile');
      await rename(lock, index);
    },
    async release(): Promise<void> {
      if (await isHeld()) await rm(lock, { force: true });
      await tidy();
    },
  };
}
