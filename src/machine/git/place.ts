import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { withoutCredentials } from '../../kernel/repo.ts';
import { LONGEST_PATH } from '../../wire/limits.ts';
import { orNothing } from '../../wire/or-nothing.ts';
import { nearestExisting } from '../paths.ts';

/** Where someone works. Read from git's own files, so no git program is needed. */
export interface GitPlace {
  readonly folder: string;
  /** The top of the working tree, which may be a linked one. */
  readonly root: string;
  /** The repository's main checkout. */
  readonly checkout: string;
  /** The remote's address without credentials, or the name of the checkout's folder. */
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

/** The repository around a folder, or the folder itself if there is none. Inside a worktree: the repository it belongs to. */
export const repositoryAround = (folder: string): string => placeOf(folder)?.checkout ?? resolve(folder);

/** Git keeps a submodule in `<outer repository>/.git/modules/<name>`. */
export const isSubmodule = ({ root }: GitPlace): boolean => /[\\/]\.git[\\/](?:.+[\\/])?modules[\\/]/.test(gitFolderOf(root) ?? '');

/** The file contains one path. The limit protects memory from a hostile repository. */
const LARGEST_MARK = 16 * 1024;
const LARGEST_CONFIG = 1024 * 1024;

/** `.git`, or the folder that the `.git` file of a linked worktree or submodule names. */
function gitFolderOf(root: string): string | undefined {
  const mark = join(root, '.git');
  const kind = orNothing(() => statSync(mark));
  if (kind?.isDirectory()) return mark;
  if (!kind?.isFile()) return undefined;
  const named = /^gitdir: (.+)$/m.exec(readSmall(mark, LARGEST_MARK) ?? '')?.[1];
  return named ? resolve(root, named) : mark;
}

/**
 * A linked worktree has its own HEAD and names the folder whose configuration it shares. That folder may be a bare repository. If the repository is
 * gone, the worktree still belongs to it. A submodule is its own repository.
 */
function sharedFolder(git: string): string {
  const named = readSmall(join(git, 'commondir'), LARGEST_MARK)?.trim();
  if (named) return resolve(git, named);
  return /^(.+[\\/]\.git)[\\/]worktrees[\\/][^\\/]+$/.exec(git)?.[1] ?? git;
}

const branchOf = (git: string): string | undefined => /^ref: refs\/heads\/(.+)$/m.exec(readSmall(join(git, 'HEAD'), LARGEST_MARK) ?? '')?.[1];

/** `origin`, or the only remote. */
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
  // If the remote is just another folder on this machine, the name of the checkout's folder is more useful.
  return url && !/^(?:[./~]|[A-Za-z]:[\\/]|file:)/.test(url) ? withoutCredentials(url).slice(0, 300) : undefined;
}

function readSmall(path: string, most: number): string | undefined {
  return orNothing(() => {
    const found = statSync(path);
    // A pipe would block, and a device may never end.
    return found.isFile() && found.size <= most ? readFileSync(path, 'utf8') : undefined;
  });
}
