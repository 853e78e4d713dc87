import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { git } from '../../../machine/git/git.ts';
import { configuredFor } from '../../../machine/git/git-user.ts';
import { replaceFile } from '../../../wire/covibe-home.ts';
import { CliError } from '../../cli/command.ts';
import { guardScript, KEPT_SUFFIX, type ScriptOptions, scriptState } from './script.ts';

export const GUARDED = ['pre-commit', 'pre-push'] as const;
export type Guarded = (typeof GUARDED)[number];

export interface GuardOutcome {
  readonly hook: Guarded;
  readonly path: string;
  /** `left`: someone has changed the hook since it was installed, so it was not removed. */
  readonly change: 'installed' | 'unchanged' | 'removed' | 'restored' | 'absent' | 'left';
  /** Whether the repository already had a hook of this kind. That hook stays and runs first. */
  readonly kept: boolean;
}

/**
 * Returns the folder in which git looks for this repository's hooks. The setting
 * `core.hooksPath` may name any folder. All worktrees of a repository share one hooks folder.
 */
export async function hooksFolder(root: string): Promise<string> {
  const configured = (await configuredFor(root, 'core.hooksPath')).at(-1);
  return configured ? resolve(root, configured) : await ownHooksFolder(root);
}

/** Returns the repository's own hooks folder, which git uses unless `core.hooksPath` is set. */
export async function ownHooksFolder(root: string): Promise<string> {
  return resolve(root, join((await git(root, ['rev-parse', '--git-common-dir'], { reads: true })).trim(), 'hooks'));
}

/** Returns whether the folder is in the working tree, where a commit could publish its files. */
export const isInTree = (root: string, folder: string): boolean => {
  const path = relative(root, folder);
  return !path.startsWith('..') && !isAbsolute(path) && path.split(/[\\/]/)[0] !== '.git';
};

/** Installs the hooks of the guard. Checks all hooks before it changes one of them. */
export function installGuard(folder: string, options: Omit<ScriptOptions, 'kept'>): GuardOutcome[] {
  requireFolder(folder);
  const found = GUARDED.map((hook) => ({ hook, ...lookAt(folder, hook) }));
  for (const { hook, there, kept, path } of found) {
    if (there?.state === 'changed') throw changed(hook, path);
    if (there?.state === 'foreign' && kept !== undefined && kept !== there.text) throw twice(hook, path);
  }
  return found.map(({ hook, path, keptPath, there, kept }) => {
    const before = there?.state === 'foreign' ? there.text : kept;
    const script = guardScript(hook, { ...options, kept: before });
    if (there?.text === script) return { hook, path, change: 'unchanged', kept: before !== undefined };
    mkdirSync(folder, { recursive: true });
    if (there?.state === 'foreign') renameSync(path, keptPath);
    replaceFile(path, script, 0o755);
    chmodSync(path, 0o755);
    return { hook, path, change: 'installed', kept: before !== undefined };
  });
}

/** Removes the guard's hooks, and restores the previous hooks with their content and mode. */
export function removeGuard(folder: string): GuardOutcome[] {
  requireFolder(folder);
  const found = GUARDED.map((hook) => ({ hook, ...lookAt(folder, hook) }));
  return found.map(({ hook, path, keptPath, there, kept }): GuardOutcome => {
    const outcome = { hook, path, kept: kept !== undefined };
    if (there?.state === 'changed') return { ...outcome, change: 'left' };
    if (there?.state === 'foreign' || (!there && kept === undefined)) return { ...outcome, change: 'absent' };
    if (kept === undefined) rmSync(path);
    else renameSync(keptPath, path);
    return { ...outcome, change: kept === undefined ? 'removed' : 'restored' };
  });
}

function lookAt(folder: string, hook: Guarded) {
  const path = join(folder, hook);
  const keptPath = `${path}${KEPT_SUFFIX}`;
  const text = textOf(path);
  return { path, keptPath, there: text === undefined ? undefined : { text, state: scriptState(text) }, kept: textOf(keptPath) };
}

/** Reads the file as latin1, which preserves every byte, because the hook may be a binary. */
function textOf(path: string): string | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new CliError('HOOK_UNREADABLE', `${path} cannot be read (${code}). Nothing was changed.`, 'Fix its permissions or delete it, then run this again.');
  }
}

/** Refuses a hooks path that is not a folder, such as `/dev/null`, which turns hooks off. */
function requireFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found || found.isDirectory()) return;
  throw new CliError(
    'NO_HOOKS_FOLDER',
    `${folder} is not a folder, so git runs no hooks here. Nothing was changed.`,
    'Point core.hooksPath to a folder or unset it (git config --show-origin core.hooksPath shows where it is set), then run this again.',
  );
}

const changed = (hook: Guarded, path: string): CliError =>
  new CliError(
    'GUARD_CHANGED',
    `${path} is the guard's ${hook} hook, but someone has changed it since. Nothing was changed.`,
    'Move the added lines to another file and delete the hook, then run this again.',
  );

const twice = (hook: Guarded, path: string): CliError =>
  new CliError(
    'TWO_HOOKS',
    `${path} is a ${hook} hook that the guard did not install. It can keep only one such hook, and already keeps ${path}${KEPT_SUFFIX}. Nothing was changed.`,
    'Delete the hook that you do not need, then run this again.',
  );
