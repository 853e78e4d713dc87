import { shellQuoted } from '../../../wire/shell-quoted.ts';
import { hashOf } from '../hash.ts';
import type { Guarded } from './install.ts';

/** The suffix of the name that the previous hook gets. The previous hook stays in the same folder as the hook of the guard. */
export const KEPT_SUFFIX = '.kept-by-covibe';

export interface ScriptOptions {
  readonly origin: string;
  /** An interpreter and a file that start this program if it is not on the PATH. */
  readonly program: readonly [string, string];
  /** The content of the previous hook. Undefined if there was none. */
  readonly kept: string | undefined;
}

const MARK = '# covibe-guard';

/**
 * Returns the script of a hook. It stops git only if the previous hook fails or the
 * guard denies the commit or push. No other failure may prevent a commit or push.
 */
export function guardScript(hook: Guarded, { origin, program: [interpreter, file], kept }: ScriptOptions): string {
  const what = hook === 'pre-commit' ? 'commit' : 'push';
  // Git writes the list of refs to stdin only once, but both the previous hook and the guard's hook must read it.
  const reads = hook === 'pre-push' ? `refs=$(cat)\nrefs() { [ -z "$refs" ] || printf '%s\\n' "$refs"; }\n` : '';
  const from = hook === 'pre-push' ? 'refs | ' : '';
  const body = `# Written by \`covibe-local guard install\`; \`covibe-local guard remove\` removes it.
${reads}kept="$0${KEPT_SUFFIX}"
if [ -x "$kept" ]; then
  ${from}${keptHookCommand(kept)} || exit
fi
covibe() {
  if command -v covibe-local >/dev/null 2>&1; then
    covibe-local "$@"
  elif [ -x ${shellQuoted(interpreter)} ] && [ -f ${shellQuoted(file)} ]; then
    ${shellQuoted(interpreter)} ${shellQuoted(file)} "$@"
  else
    echo 'covibe-local is not installed: this ${what} was not checked against the claims of other agents.' >&2
    echo '    next: install covibe-local again, or delete this hook' >&2
  fi
}
${from}covibe guard check ${hook}${hook === 'pre-push' ? ' "$1"' : ''} --base-url ${shellQuoted(origin)}
case $? in
0) ;;
3) exit 1 ;;
*)
  echo 'covibe-local failed: this ${what} was not checked against the claims of other agents.' >&2
  echo '    next: run covibe-local doctor' >&2
  ;;
esac
`;
  return `#!/bin/sh\n${MARK} ${hashOf(body)}\n${body}`;
}

/**
 * Returns the command that runs the previous hook. A shell script is sourced by its own shell under its original name, because some scripts, such as those of
 * husky, use the name under which they were called.
 */
function keptHookCommand(kept: string | undefined): string {
  const shell = /^#!\s*(?:\/usr\/bin\/env\s+)?((?:\/[\w./-]+\/)?(?:sh|bash|dash|zsh|ksh))((?:\s+-[a-z]+)?)\s*\n/.exec(kept ?? '');
  return shell ? `${shell[1]}${shell[2]} -c '. "$0${KEPT_SUFFIX}"' "$0" "$@"` : '"$kept" "$@"';
}

/**
 * Returns who wrote a hook. `ours`: the guard wrote it, and nobody has changed it. `changed`:
 * the guard wrote it, and someone has changed it since. `foreign`: someone else wrote it.
 */
export function scriptState(text: string): 'ours' | 'changed' | 'foreign' {
  const [, mark = '', ...body] = text.split('\n');
  if (!mark.startsWith(MARK)) return text.includes(`\n${MARK} `) ? 'changed' : 'foreign';
  return mark === `${MARK} ${hashOf(body.join('\n'))}` ? 'ours' : 'changed';
}
