import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { withoutCredentials } from '../../kernel/repo.ts';
import { LONGEST_PATH } from '../../wire/limits.ts';
import { orNothing } from '../../wire/or-nothing.ts';
import { nearestExisting } from '../paths.ts';

/** Where somebody works. Read from git's own files: no program has to be started for it, and none has to be there. */
export interface GitPlace {
  readonly folder: string;
  /** The top of the working tree, which may be a linked one. */
  readonly root: string;
  /** The repository's main checkout. */
  readonly checkout: string;
  /** The remote's address without credentials, or the name of the checkout's folder. */
  readonly repo: string;
  /** Undefined where no branch is checked out. */
  readonly branch: string | undefined;
}

/** Undefined outside of any repository. */
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

/** The repository around a folder, or the folder itself where there is none. From inside a worktree: the repository that it is of. */
export const repositoryAround = (folder: string): string => placeOf(folder)?.checkout ?? resolve(folder);

/** Git keeps it in `<outer repository>/.git/modules/<name>`. */
export const isSubmodule = ({ root }: GitPlace): boolean => /[\\/]\.git[\\/](?:.+[\\/])?modules[\\/]/.test(gitFolderOf(root) ?? '');

/** It holds one path. Repositories are not to be trusted with our memory. */
const LARGEST_MARK = 16 * 1024;
const LARGEST_CONFIG = 1024 * 1024;

/** `.git`, or where the mark of a linked worktree or submodule says that it is. */
function gitFolderOf(root: string): string | undefined {
  const mark = join(root, '.git');
  const kind = orNothing(() => statSync(mark));
  if (kind?.isDirectory()) return mark;
  if (!kind?.isFile()) return undefined;
  const named = /^gitdir: (.+)$/m.exec(readSmall(mark, LARGEST_MARK) ?? '')?.[1];
  return named ? resolve(root, named) : mark;
}

/**
 * A linked worktree has its own HEAD, and says whose configuration it shares, which may be that of a bare repository; one whose repository
 * is gone is still of that one. A submodule stands for itself.
 */
function sharedFolder(git: string): string {
  const named = readSmall(join(git, 'commondir'), LARGEST_MARK)?.trim();
  if (named) return resolve(git, named);
  return /^(.+[\\/]\.git)[\\/]worktrees[\\/][^\\/]+$/.exec(git)?.[1] ?? git;
}

const branchOf = (git: string): string | undefined => /^ref: refs\/heads\/(.+)$/m.exec(readSmall(join(git, 'HEAD'), LARGEST_MARK) ?? '')?.[1];

/** `origin`, or the only remote there is. */
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
  // A remote that is another folder of this machine says less than the folder's name.
  return url && !/^(?:[./~]|[A-Za-z]:[\\/]|file:)/.test(url) ? withoutCredentials(url).slice(0, 300) : undefined;
}

function readSmall(path: string, most: number): string | undefined {
  return orNothing(() => {
    const found = statSync(path);
    // A pipe would keep us waiting, and a device has no end.
    return found.isFile() && found.size <= most ? readFileSync(path, 'utf8') : undefined;
  });
}
