import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GitFailed, type GitOptions, runGit } from './git.ts';
import { gitOnFiles, onFiles } from './git-files.ts';

/** Two states of a repository to compare. */
export interface Compared {
  /** The path of a worktree. If only commits are compared, the path of the repository. */
  readonly folder: string;
  readonly from: string;
  /** The commit to compare with. Null compares with the files in the worktree, including untracked files. */
  readonly to: string | null;
}

export interface FileDiff {
  readonly path: string;
  /** If the file was renamed: its earlier name. */
  readonly before: string | null;
  readonly change: 'added' | 'modified' | 'deleted' | 'renamed' | 'conflict' | 'repository';
  /** The number of added lines. Null if the file is binary or too large to be read. */
  readonly added: number | null;
  readonly removed: number | null;
  readonly binary: boolean;
  /** True if at least a part of the change is not committed. */
  readonly uncommitted: boolean;
}

/**
 * These options disable everything that a repository's settings and attributes could add to a diff, such as programs, colours and other prefixes. Only the
 * commit of a submodule is compared, because otherwise git would run inside the submodule with its settings.
 */
const PLAIN = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-relative',
  '--ignore-submodules=dirty',
  '--submodule=short',
  '--find-renames',
  '-l200',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--unified=3',
  '--inter-hunk-context=0',
];

/** Returns the common ancestor of two commits, or null if there is none. */
export async function mergeBase(repository: string, one: string, other: string, options: GitOptions = {}): Promise<string | null> {
  const { code, stdout } = await runGit(repository, ['merge-base', '--end-of-options', one, other], { ...options, reads: true, answers: [1] });
  return code === 0 ? stdout.trim() : null;
}

/** Whether the branch contains any change compared with its common ancestor with the base. */
export async function hasChanges(repository: string, base: string, branch: string, options: GitOptions = {}): Promise<boolean> {
  const from = (await mergeBase(repository, base, branch, options)) ?? base;
  const args = ['diff-tree', '--quiet', '--no-ext-diff', '--no-textconv', from, branch, '--'];
  return (await runGit(repository, args, { ...options, reads: true, answers: [1] })).code === 1;
}

export async function changedFiles(compared: Compared, options: GitOptions = {}): Promise<FileDiff[]> {
  const { folder, from, to } = compared;
  const range = to === null ? [from] : [from, to];
  const { said, names, others } = await onFiles(folder, { ...options, reads: true }, async (git) => ({
    said: (await git(['diff', ...PLAIN, '--raw', '--numstat', '-z', ...range, '--'])).stdout,
    names: to === null ? (await git(['diff', ...PLAIN, '--no-renames', '--name-only', '-z', 'HEAD', '--'])).stdout : '',
    others: to === null ? (await git(['ls-files', '--others', '--exclude-standard', '-z'])).stdout : '',
  }));
  if (to !== null) return parsed(said, () => false);
  const uncommitted = new Set(names.split('\0'));
  const known = parsed(said, (path) => uncommitted.has(path));
  const untracked = others.split('\0').filter((path) => path !== '');
  const found: FileDiff[] = [];
  for (const [index, path] of untracked.entries()) found.push(await newFile(folder, path, index));
  return [...known, ...found].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the patch of one file in git's format, or null if the patch is too large to show. */
export async function patchOf({ folder, from, to }: Compared, file: FileDiff, options: GitOptions = {}): Promise<string | null> {
  if (file.change === 'repository') return '';
  const env = { GIT_LITERAL_PATHSPECS: '1' };
  const paths = file.before === null ? [file.path] : [file.before, file.path];
  const range = to === null ? [from] : [from, to];
  try {
    const patch = await gitOnFiles(folder, ['diff', ...PLAIN, '--patch', ...range, '--', ...paths], { ...options, env, reads: true });
    return patch === '' && to === null ? await newFilePatch(folder, file.path) : patch;
  } catch (error) {
    if (error instanceof GitFailed && error.tooMuch) return null;
    throw error;
  }
}

const CHANGES: Record<string, FileDiff['change']> = { A: 'added', C: 'added', D: 'deleted', R: 'renamed', U: 'conflict' };
const GITLINK = '160000';

/** Parses the output of `--raw --numstat -z`, which lists the status of all files first, and then the line counts. */
function parsed(said: string, isUncommitted: (path: string) => boolean): FileDiff[] {
  const words = said.split('\0');
  const files = new Map<string, FileDiff>();
  for (let at = 0; at < words.length; ) {
    const word = words[at++] as string;
    const raw = /^:(\d+) (\d+) \S+ \S+ ([A-Z])/.exec(word);
    if (raw) {
      const [, oldMode, newMode, letter = 'M'] = raw;
      const before = letter === 'R' || letter === 'C' ? (words[at++] as string) : null;
      const path = words[at++] as string;
      const change = newMode === GITLINK || oldMode === GITLINK ? 'repository' : (CHANGES[letter] ?? 'modified');
      const uncommitted = isUncommitted(path) || (before !== null && isUncommitted(before));
      if (files.get(path)?.change !== 'conflict') {
        files.set(path, { path, before: letter === 'R' ? before : null, change, added: null, removed: null, binary: false, uncommitted });
      }
      continue;
    }
    const counts = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(word);
    if (!counts) continue;
    const [, added, removed, name] = counts;
    if (name === '') at++;
    const path = name === '' ? (words[at++] as string) : (name as string);
    const file = files.get(path);
    if (file) files.set(path, { ...file, binary: added === '-', added: lines(added), removed: lines(removed) });
  }
  return [...files.values()];
}

const lines = (count: string | undefined): number | null => (count === undefined || count === '-' ? null : Number(count));

/** Limits for untracked files. */
const MAX_COUNTED = 500;
const COUNTED_BYTES = 1024 * 1024;
const SHOWN_BYTES = 8 * 1024 * 1024;
/** Like git, treats a file as binary if one of its first bytes is zero. This is the number of bytes to check. */
const LOOKED_AT = 8_000;

/**
 * Describes an untracked file. Lines are counted only for the first files (see `index`); the others are listed without counts. A path that ends in a slash is
 * another repository.
 */
async function newFile(folder: string, path: string, index: number): Promise<FileDiff> {
  const about = { path: path.replace(/\/$/, ''), before: null, added: null, removed: 0, binary: false, uncommitted: true } as const;
  if (path.endsWith('/')) return { ...about, change: 'repository', removed: null };
  const bytes = index < MAX_COUNTED ? await contentOf(join(folder, path), COUNTED_BYTES) : null;
  if (bytes === null) return { ...about, change: 'added' };
  return isBinary(bytes) ? { ...about, change: 'added', removed: null, binary: true } : { ...about, change: 'added', added: lineCount(bytes) };
}

/** Returns a patch that adds all lines of the file, or null if the file is too large or does not exist anymore. */
async function newFilePatch(folder: string, path: string): Promise<string | null> {
  const bytes = await contentOf(join(folder, path), SHOWN_BYTES);
  if (bytes === null) return null;
  if (bytes.length === 0 || isBinary(bytes)) return '';
  const text = bytes.toString('utf8');
  const whole = text.endsWith('\n');
  const added = (whole ? text.slice(0, -1) : text).split('\n').map((line) => `+${line}`);
  return [`@@ -0,0 +1,${added.length} @@`, ...added, ...(whole ? [] : ['\\ No newline at end of file']), ''].join('\n');
}

/** Reads a file. Returns null if it does not exist or is larger than `most`. A symbolic link is not followed; the result is the path that it points to. */
async function contentOf(path: string, most: number): Promise<Buffer | null> {
  try {
    if ((await lstat(path)).isSymbolicLink()) return Buffer.from(await readlink(path));
    // Opening a pipe without a writer would block forever.
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await file.stat();
      return found.isFile() && found.size <= most ? await file.readFile() : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, LOOKED_AT).includes(0);

function lineCount(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === 10) count++;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? count + 1 : count;
}
