import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { withoutCredentials } from '../../kernel/repo.ts';
import { LONGEST_PATH } from '../../wire/limits.ts';
import { orNothing } from '../../wire/or-nothing.ts';
import { nearestExisting } from '../paths.ts';

/** The repository and branch that a folder belongs to. They are read from git's files, so the git program is not needed. */
export interface GitPlace {
  readonly folder: string;
  /** The top of the working tree, which may be a linked worktree. */
  readonly root: string;
  /** The repository's main checkout. */
  readonly checkout: string;
  /** The address of the remote without credentials. If there is no suitable remote, the name of the checkout's folder. */
  readonly repo: string;
  /** Undefined if no branch is checked out. */
  readonly branch: string | undefined;
}

/** Undefined outside a repository. */
export function placeOf(folder: string): GitPlace | undefined {
  const whole = resolve(folder);
  if (whole.length > LONGEST_PATH) return undefined;
  for (let root = nearestExisting(whole); ; root = dirname(root)) {
    const git = gitFolderOf(root);
    if (git) {
      const shared = sharedFolder(git);
      const checkout = basename(shared) === '.git' ? dirname(shared) : root;
      return { folder: whole, root, checkout, repo: remoteOf(shared) ?? basename(checkout), branch: branchOf(git) };
    }
    if (root === dirname(root)) return undefined;
  }
}

/**
 * Returns the main checkout of the repository that contains the folder, even if the folder is in a linked worktree. Returns the folder itself if it is not in
 * a repository.
 */
export const repositoryAround = (folder: string): string => placeOf(folder)?.checkout ?? resolve(folder);

/** Whether the place is in a submodule. Git stores submodules in `<outer repository>/.git/modules/<name>`. */
export const isSubmodule = ({ root }: GitPlace): boolean => /[\\/]\.git[\\/](?:.+[\\/])?modules[\\/]/.test(gitFolderOf(root) ?? '');

/** A `.git` file contains only one path. The limit prevents a hostile repository from filling the memory. */
const LARGEST_MARK = 16 * 1024;
const LARGEST_CONFIG = 1024 * 1024;

/** Returns the folder `.git`. In a linked worktree or submodule `.git` is a file, and the result is the folder that it points to. */
function gitFolderOf(root: string): string | undefined {
  const mark = join(root, '.git');
  const kind = orNothing(() => statSync(mark));
  if (kind?.isDirectory()) return mark;
  if (!kind?.isFile()) return undefined;
  const named = /^gitdir: (.+)$/m.exec(readSmall(mark, LARGEST_MARK) ?? '')?.[1];
  return named ? resolve(root, named) : mark;
}

/**
 * Returns the git folder with the configuration. A linked worktree has its own HEAD, but shares the configuration of its repository, which may be bare. If
 * that repository was deleted, the worktree still belongs to it. A submodule is a separate repository.
 */
function sharedFolder(git: string): string {
  const named = readSmall(join(git, 'commondir'), LARGEST_MARK)?.trim();
  if (named) return resolve(git, named);
  return /^(.+[\\/]\.git)[\\/]worktrees[\\/][^\\/]+$/.exec(git)?.[1] ?? git;
}

const branchOf = (git: string): string | undefined => /^ref: refs\/heads\/(.+)$/m.exec(readSmall(join(git, 'HEAD'), LARGEST_MARK) ?? '')?.[1];

/** Returns the address of `origin`, or of the only remote. */
function remoteOf(shared: string): string | undefined {
  const remotes = new Map<string, string>();
  let section: string | undefined;
  for (const line of (readSmall(join(shared, 'config'), LARGEST_CONFIG) ?? '').split('\n')) {
    const head = /^\s*\[\s*(\w+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (head) section = head[1]?.toLowerCase() === 'remote' ? head[2] : undefined;
    const url = section !== undefined ? /^\s*url\s*=\s*(.+?)\s*$/i.exec(line)?.[1] : undefined;
    if (section !== undefined && url && !remotes.has(section)) remotes.set(section, url.replace(/^"(.*)"$/, '$1'));
  }
  const url = remotes.get('origin') ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined);
  // If the remote is a folder on this machine, its path is ignored, because the name of the checkout's folder is more useful.
  return url && !/^(?:[./~]|[A-Za-z]:[\\/]|file:)/.test(url) ? withoutCredentials(url).slice(0, 300) : undefined;
}

function readSmall(path: string, most: number): string | undefined {
  return orNothing(() => {
    const found = statSync(path);
    // Only regular files are read, because reading a pipe can block and a device may never end.
    return found.isFile() && found.size <= most ? readFileSync(path, 'utf8') : undefined;
  });
}
