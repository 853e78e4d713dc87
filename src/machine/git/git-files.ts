import { lstatSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProgramResult } from '../process/process.ts';
import { GitFailed, type GitOptions, git, resolveCommit, runGit, runGitIn } from './git.ts';
import type { GitSetting } from './git-program.ts';
import { placeOf } from './place.ts';

/** Runs a git command that may read the files of a worktree. */
export type GitOnFiles = (args: readonly string[], options?: GitOptions) => Promise<ProgramResult>;

const HARMLESS: readonly GitSetting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/**
 * When git reads the files of a worktree, it runs the filter programs from the repository's configuration. To prevent that, git gets a temporary git folder
 * with the repository's objects, index and HEAD, but with our configuration. Attributes may still mention filters, but no filter is defined. Content that LFS
 * or git-crypt stores elsewhere is compared in its committed form.
 */
export async function onFiles<T>(folder: string, options: GitOptions, work: (git: GitOnFiles) => Promise<T>): Promise<T> {
  const reading = { ...options, reads: true };
  const [{ gitFolder, commonFolder, objects, index, format }, root] = [await gitFoldersOf(folder, reading), rootOf(folder)];
  const [head, settings] = await Promise.all([resolveCommit(folder, 'HEAD', reading), settingsOfDisk(folder, reading)]);
  const scratch = await mkdtemp(join(tmpdir(), 'covenant-git-'));
  try {
    const own = await writeGitFolder(scratch, { head, format });
    await mkdir(join(own, 'info'));
    // These files are copied because they are data and not settings: they list which files are ignored or checked out, and their attributes.
    for (const [from, name] of [
      [commonFolder, 'info/exclude'],
      [commonFolder, 'info/attributes'],
      [gitFolder, 'info/sparse-checkout'],
      [commonFolder, 'shallow'],
    ] as const) {
      await symlink(join(from, name), join(own, name));
    }
    for (const name of await readdir(gitFolder)) if (name.startsWith('sharedindex.')) await symlink(join(gitFolder, name), join(own, name));
    const world = (more: GitOptions) => ({
      settings: [...settings, ...HARMLESS],
      protocols: 'none',
      env: {
        GIT_DIR: own,
        GIT_WORK_TREE: root,
        GIT_OBJECT_DIRECTORY: objects,
        GIT_INDEX_FILE: more.env?.GIT_INDEX_FILE ?? options.env?.GIT_INDEX_FILE ?? index,
      },
    });
    return await work((args, more = {}) => runGitIn(world(more), root, args, { ...options, ...more }));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Runs one git command on the files of a worktree and returns its output. */
export async function gitOnFiles(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return await onFiles(folder, options, async (run) => (await run(args)).stdout);
}

/** Writes the smallest folder that git accepts as a repository, with our configuration. */
export async function writeGitFolder(folder: string, { head, format }: { head: string | null; format: string }): Promise<string> {
  for (const name of ['objects', 'refs']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'HEAD'), head === null ? 'ref: refs/heads/unborn\n' : `${head}\n`);
  const extensions = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`;
  await writeFile(join(folder, 'config'), `[core]\n\trepositoryFormatVersion = ${format === 'sha1' ? 0 : 1}\n\tbare = false\n${extensions}`);
  return folder;
}

export interface GitFolders {
  readonly gitFolder: string;
  readonly commonFolder: string;
  readonly objects: string;
  readonly index: string;
  /** The object format: `sha1` or `sha256`. */
  readonly format: string;
}

/** Returns the folders that contain the git data of a worktree. Git checks who owns them. */
export async function gitFoldersOf(folder: string, options: GitOptions): Promise<GitFolders> {
  const args = ['--path-format=absolute', '--git-dir', '--git-common-dir', '--git-path', 'objects', '--git-path', 'index', '--show-object-format'];
  const said = (await git(folder, ['rev-parse', ...args], { ...options, reads: true })).split('\n');
  const [gitFolder = '', commonFolder = '', objects = '', index = '', format = ''] = said;
  if (said.length !== 6 || !/^sha\d+$/.test(format)) throw new GitFailed('rev-parse', null, `${folder}: the path of its repository contains a line break`);
  return { gitFolder, commonFolder, objects, index, format };
}

/** Returns the top of the working tree: the folder that contains `.git`. The setting `core.worktree` is ignored. */
export function rootOf(folder: string): string {
  const root = placeOf(folder)?.root;
  if (root === undefined) throw new GitFailed('rev-parse', 128, `${folder} is not in a git repository`);
  return root;
}

/**
 * Settings that describe how the repository's files are stored on this disk. They are taken from the repository, because their values can never be a program
 * or a path.
 */
const SETTINGS_OF_DISK =
  '^(core\\.(filemode|symlinks|ignorecase|precomposeunicode|longpaths|autocrlf|eol|trustctime|checkstat|sparsecheckout|sparsecheckoutcone))$';

async function settingsOfDisk(folder: string, options: GitOptions): Promise<GitSetting[]> {
  const { stdout } = await runGit(folder, ['config', '--no-includes', '-z', '--get-regexp', SETTINGS_OF_DISK], { ...options, answers: [1] });
  return stdout.split('\0').flatMap((entry): GitSetting[] => {
    const [key = '', value = 'true'] = entry.split('\n');
    return key !== '' && /^\w+$/.test(value) ? [[key, value]] : [];
  });
}

/** Returns the submodules in the index of a worktree, with their commits. */
export async function submodulesIn(folder: string, options: GitOptions): Promise<{ path: string; commit: string; isThere: boolean }[]> {
  const staged = await git(folder, ['ls-files', '--stage', '-z', '--full-name', '--', ':/'], { ...options, reads: true });
  return staged.split('\0').flatMap((entry) => {
    const [, commit = '', path = ''] = /^160000 ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
    return path === '' ? [] : [{ path, commit, isThere: lstatSync(join(folder, path, '.git'), { throwIfNoEntry: false }) !== undefined }];
  });
}
