import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { quoted } from '../../../clients/config-entries.ts';
import { git } from '../../../machine/git/git.ts';
import { configuredFor } from '../../../machine/git/git-user.ts';
import { replaceFile } from '../../../wire/covibe-home.ts';
import { CliError } from '../../cli/command.ts';
import { hashOf } from '../hash.ts';

export const GUARDED = ['pre-commit', 'pre-push'] as const;
export type Guarded = (typeof GUARDED)[number];

/** What a hook that was there before is called, beside ours. */
const KEPT = '.kept-by-covibe';

interface ScriptOptions {
  readonly origin: string;
  /** Starts this program where the PATH does not have it: an interpreter and a file. */
  readonly program: readonly [string, string];
  /** The hook that was there before. */
  readonly kept: string | undefined;
}

const MARK = '# covibe-guard';

/** The hook. A denial alone, by its code, stops git: whatever else goes wrong here must not keep anybody from committing. */
function guardScript(hook: Guarded, { origin, program: [interpreter, file], kept }: ScriptOptions): string {
  const what = hook === 'pre-commit' ? 'commit' : 'push';
  // Git gives the list of what is pushed once, and two must read it.
  const reads = hook === 'pre-push' ? `refs=$(cat)\nrefs() { [ -z "$refs" ] || printf '%s\\n' "$refs"; }\n` : '';
  const from = hook === 'pre-push' ? 'refs | ' : '';
  const body = `# Written by \`covibe-local guard install\`; \`covibe-local guard remove\` takes it out again.
${reads}kept="$0${KEPT}"
if [ -x "$kept" ]; then
  ${from}${runner(kept)} || exit
fi
covibe() {
  if command -v covibe-local >/dev/null 2>&1; then
    covibe-local "$@"
  elif [ -x ${quoted(interpreter)} ] && [ -f ${quoted(file)} ]; then
    ${quoted(interpreter)} ${quoted(file)} "$@"
  else
    echo 'covibe-local is not installed any more: this ${what} was not checked against the claims of others.' >&2
    echo '    next: install it again; \`covibe-local guard remove\` then takes this hook out' >&2
  fi
}
${from}covibe guard check ${hook}${hook === 'pre-push' ? ' "$1"' : ''} --base-url ${quoted(origin)}
case $? in
0) ;;
3) exit 1 ;;
*)
  echo 'covibe-local failed: this ${what} was not checked against the claims of others.' >&2
  echo '    next: covibe-local doctor' >&2
  ;;
esac
`;
  return `#!/bin/sh\n${MARK} ${hashOf(body)}\n${body}`;
}

/**
 * How the hook that was there is run. One of a shell is read by its shell under its old name, because some ask by which name they were
 * called: husky's find by it what to run.
 */
function runner(kept: string | undefined): string {
  const shell = /^#!\s*(?:\/usr\/bin\/env\s+)?((?:\/[\w./-]+\/)?(?:sh|bash|dash|zsh|ksh))((?:\s+-[a-z]+)?)\s*\n/.exec(kept ?? '');
  return shell ? `${shell[1]}${shell[2]} -c '. "$0${KEPT}"' "$0" "$@"` : '"$kept" "$@"';
}

/** `ours`: as it was written, whatever it was written for. `changed`: by somebody, since. */
export function scriptState(text: string): 'ours' | 'changed' | 'foreign' {
  const [, mark = '', ...body] = text.split('\n');
  if (!mark.startsWith(MARK)) return text.includes(`\n${MARK} `) ? 'changed' : 'foreign';
  return mark === `${MARK} ${hashOf(body.join('\n'))}` ? 'ours' : 'changed';
}

export interface GuardOutcome {
  readonly hook: Guarded;
  readonly path: string;
  /** `left`: somebody has changed it since, and it is theirs now. */
  readonly change: 'installed' | 'unchanged' | 'removed' | 'restored' | 'absent' | 'left';
  /** A hook that was there before is run first. */
  readonly kept: boolean;
}

/** Where git looks for this repository's hooks: a setting may name any folder, and linked worktrees share one. */
export async function hooksFolder(root: string): Promise<string> {
  const configured = (await configuredFor(root, 'core.hooksPath')).at(-1);
  return configured ? resolve(root, configured) : await ownHooksFolder(root);
}

/** Where the hooks of this repository alone are. */
export async function ownHooksFolder(root: string): Promise<string> {
  return resolve(root, join((await git(root, ['rev-parse', '--git-common-dir'], { reads: true })).trim(), 'hooks'));
}

/** Whether a commit could carry it to others. */
export const isInTree = (root: string, folder: string): boolean => {
  const path = relative(root, folder);
  return !path.startsWith('..') && !isAbsolute(path) && path.split(/[\\/]/)[0] !== '.git';
};

/** Looks at all before it changes any. */
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

/** What was there before is there again, with its bytes and its mode. */
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
  const keptPath = `${path}${KEPT}`;
  const text = textOf(path);
  return { path, keptPath, there: text === undefined ? undefined : { text, state: scriptState(text) }, kept: textOf(keptPath) };
}

/** As bytes: it may be a program. */
function textOf(path: string): string | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new CliError('HOOK_UNREADABLE', `${path} cannot be read (${code}). Nothing was changed.`, 'Delete it, or mend it; then run this again.');
  }
}

/** `/dev/null` is how people tell git that there are none. */
function requireFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found || found.isDirectory()) return;
  throw new CliError(
    'NO_HOOKS_FOLDER',
    `${folder} is no folder, so that git runs no hooks here. Nothing was changed.`,
    'Have core.hooksPath name a folder, or unset it (git config --show-origin core.hooksPath says where it is set); then run this again.',
  );
}

const changed = (hook: Guarded, path: string): CliError =>
  new CliError(
    'GUARD_CHANGED',
    `${path} is the guard's ${hook} hook, and somebody has changed it since. Nothing was changed.`,
    'Move what was added elsewhere and delete the file; then run this again.',
  );

const twice = (hook: Guarded, path: string): CliError =>
  new CliError(
    'TWO_HOOKS',
    `${path} is a ${hook} hook that the guard does not know, and ${path}${KEPT} is another that it keeps. Nothing was changed.`,
    `Delete the one that is not wanted; then run this again.`,
  );
