import { link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileDisk } from './files.ts';
import { type GitOptions, git, resolveCommit, runGit } from './git.ts';
import { copyIndex } from './index-copy.ts';
import { currentBranch } from './repository.ts';
import { unfinished } from './worktree-state.ts';

/**
 * Brings one file into a branch that somebody works on, as a merge commit, and touches nothing else: neither what they have
 * edited, nor what they have staged, nor what they are about to commit.
 */

/** The file cannot be merged without touching what is not ours. Nothing was changed. */
export class MergeImpossible extends Error {
  override readonly name = 'MergeImpossible';
}

export interface FileMerge {
  /** Where the branch is checked out. */
  readonly worktree: string;
  readonly branch: string;
  /** At the top of the worktree. */
  readonly file: string;
  readonly text: string;
  /** The commit that the text is about: the merged side stands on it, and so brings nothing but the file. */
  readonly about: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly subject: string;
  /** Names what lies beside the index meanwhile: whoever carries on after a crash finds it by this. */
  readonly key: string;
}

/** Made, and on no branch yet. */
export interface PreparedMerge {
  readonly commit: string;
  /** Where the branch stands. */
  readonly onto: string;
}

export async function prepareMerge(merge: FileMerge, options: GitOptions = {}): Promise<PreparedMerge> {
  const { worktree, branch, file, about } = merge;
  await requireOpen(merge, options);
  const onto = await resolveCommit(worktree, `refs/heads/${branch}`, options);
  if (onto === null) throw new MergeImpossible(`there is no branch ${branch}`);
  const blob = (await git(worktree, ['hash-object', '-w', '--no-filters', '--stdin'], { ...options, input: merge.text })).trim();
  const brought = await commitTree(merge, await treeWith(worktree, about, file, blob, options), [about], options);
  const commit = await commitTree(merge, await treeWith(worktree, onto, file, blob, options), [onto, brought], options);
  return { commit, onto };
}

/** False where the branch has moved on since: it must be prepared again. Can be called again after a crash, and carries on. */
export async function applyMerge(merge: FileMerge, { commit, onto }: PreparedMerge, options: GitOptions = {}): Promise<boolean> {
  const { worktree, branch, file, text } = merge;
  const index = await indexOf(merge, options);
  const ref = `refs/heads/${branch}`;
  const tip = await resolveCommit(worktree, ref, options);
  const isIn = tip !== null && (await contains(worktree, tip, commit, options));
  if (isIn && !(await index.isHeld())) {
    await index.tidy();
    return true;
  }
  await index.hold(options.signal);
  try {
    if (!isIn) {
      await requireOpen(merge, options);
      if ((await resolveCommit(worktree, ref, options)) !== onto) return false;
    }
    await index.add(commit, file);
    await fileDisk.replaceFile(join(worktree, file), text);
    if (!isIn) await git(worktree, ['update-ref', '-m', `merge: ${merge.subject}`, ref, commit, onto], options);
    await index.put();
    return true;
  } finally {
    await index.release();
  }
}

/** On its branch, in no half-done merge or rebase, and the file neither edited nor there without being committed. */
async function requireOpen({ worktree, branch, file, text }: FileMerge, options: GitOptions): Promise<void> {
  const checkedOut = await currentBranch(worktree, options);
  if (checkedOut !== branch) throw new MergeImpossible(`${checkedOut ?? 'a detached HEAD'} is checked out there instead of ${branch}`);
  const halfDone = await unfinished(worktree, options);
  if (halfDone !== null) throw new MergeImpossible(`a ${halfDone} is under way there`);
  const args = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--ignored', '--no-renames', '--', `:(top,literal)${file}`];
  const touched = (await git(worktree, args, { ...options, reads: true })) !== '';
  if (touched && (await fileDisk.readText(join(worktree, file)).catch(() => null)) !== text) {
    throw new MergeImpossible(`${file} is there with changes that are not committed`);
  }
}

/** The tree of a commit with one file at its top put in or replaced. */
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
 * The worktree's index, held as git itself holds it: while `index.lock` is there no other git stages or commits. Ours is a second
 * name of a file of our own, so that it can be told from another's, also by whoever comes after a crash.
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
          else throw new MergeImpossible('another git has held its index for too long');
        }
      }
    },
    /** What is staged stays staged; one entry is as the commit has it. */
    async add(commit: string, file: string): Promise<void> {
      await copyIndex(index, next);
      const [, , blob] = (await git(worktree, ['ls-tree', '-z', '--full-tree', commit, '--', file], { ...options, reads: true })).split(/[ \t]/);
      await git(worktree, ['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`], { ...options, env: { GIT_INDEX_FILE: next } });
    },
    /** The lock's file becomes the index, as git does it. */
    async put(): Promise<void> {
      const handle = await open(own, 'r+');
      try {
        await handle.writeFile(await readFile(next));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(lock, index);
    },
    async release(): Promise<void> {
      if (await isHeld()) await rm(lock, { force: true });
      await tidy();
    },
  };
}
