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

/**
 * Adds one file to a branch that someone works on, as a merge commit, without touching anything else: neither edits, nor staged changes, nor a commit
 * in progress.
 */

/** The file cannot be merged without touching someone else's changes. Nothing was changed. */
export class MergeImpossible extends Error {
  override readonly name = 'MergeImpossible';
}

export interface FileMerge {
  /** Where the branch is checked out. */
  readonly worktree: string;
  readonly branch: string;
  /** A file name at the top of the worktree. */
  readonly file: string;
  readonly text: string;
  /** The commit that the text is about. The merged side is based on it, so that the merge adds only the file. */
  readonly about: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly subject: string;
  /** Names the temporary files next to the index, so that a retry after a crash finds them. */
  readonly key: string;
}

/** A merge commit that exists but is not on a branch yet. */
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
  // Commits that the author has removed since must not come back.
  const side = (await contains(worktree, onto, about, options)) ? about : onto;
  const brought = await commitTree(merge, await treeWith(worktree, side, file, blob, options), [side], options);
  const commit = await commitTree(merge, await treeWith(worktree, onto, file, blob, options), [onto, brought], options);
  return { commit, onto };
}

/** Returns false if the branch has moved since: prepare the merge again. After a crash, call it again to continue. */
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
      // A process that died here may have left a temporary file.
      await fileDisk.removeLeftovers(worktree);
      if (!(await isTouched(merge, 'edited', options))) await fileDisk.replaceFile(join(worktree, file), text);
      await index.put();
    } catch (error) {
      // If the index lacked the file, the next commit would remove it.
      await moveBranch(merge, commit, onto, options);
      await takeFileBack(merge, options);
      throw error;
    }
    return true;
  } finally {
    await index.release();
  }
}

/** Returns false if another commit moved the branch first: it may have been in progress when the index was locked. */
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

/** Restores the file from the index, or removes it if the index does not have it. */
async function takeFileBack(merge: FileMerge, options: GitOptions): Promise<void> {
  if (!(await isOurs(merge))) return;
  await rm(join(merge.worktree, merge.file));
  await gitOnFiles(merge.worktree, ['checkout-index', '--quiet', '--', merge.file], { ...options, answers: [1, 128] });
}

/** Requires the branch to be checked out without an unfinished merge or rebase, and the file to be neither edited nor uncommitted. */
async function requireOpen(merge: FileMerge, options: GitOptions): Promise<void> {
  const { worktree, branch, file } = merge;
  const checkedOut = await currentBranch(worktree, options);
  if (checkedOut !== branch) throw new MergeImpossible(`${checkedOut ?? 'a detached HEAD'} is checked out there instead of ${branch}`);
  // In the other worktree, git would report the file as deleted.
  const places = (await listWorktrees(worktree, options)).filter((one) => one.branch === branch);
  if (places.length > 1) throw new MergeImpossible(`${branch} is checked out in ${places.length} worktrees`);
  const halfDone = await unfinishedOperation(worktree, options);
  if (halfDone !== null) throw new MergeImpossible(`a ${halfDone} is in progress there`);
  if (await isTouched(merge, 'staged or edited', options)) throw new MergeImpossible(`${file} has changes there that are not committed`);
}

/**
 * Whether someone has changed the file. Git does not report files marked as unchanged, an empty folder, or a name that differs only in case on a
 * case-insensitive disk. So a file whose changes git would not report must not exist.
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

/** Null if nothing is there. A link counts as itself, whatever it points to. */
const kindOf = async ({ worktree, file }: FileMerge): Promise<'file' | 'other' | null> =>
  await lstat(join(worktree, file)).then(
    (found) => (found.isFile() ? 'file' : 'other'),
    () => null,
  );

const isOurs = async (merge: FileMerge): Promise<boolean> =>
  (await kindOf(merge)) === 'file' && (await fileDisk.readText(join(merge.worktree, merge.file)).catch(() => null)) === merge.text;

/** The tree of a commit with one file at its top added or replaced. */
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
 * Locks the worktree's index the way git does: while `index.lock` exists, no other git stages or commits. Our lock is a hard link to a file of our own,
 * so that it can be distinguished from another git's lock, even after a crash.
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
    /** Prepares an index that keeps all staged entries and contains the file from the commit. */
    async stage(commit: string, file: string): Promise<void> {
      await copyIndex(index, next);
      const [, , blob] = (await git(worktree, ['ls-tree', '-z', '--full-tree', commit, '--', file], { ...options, reads: true })).split(/[ \t]/);
      await gitOnFiles(worktree, ['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`], { ...options, env: { GIT_INDEX_FILE: next } });
      await writeFile(own, await readFile(next), { flush: true });
    },
    /** The lock file becomes the index, as in git. */
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
