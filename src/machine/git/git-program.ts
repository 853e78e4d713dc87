import { RUN_BY, THIS_PROCESS } from '../process/holder.ts';
import { type ProgramResult, type RunOptions, runProgram } from '../process/process.ts';

/** A key and a value of the git configuration. If a key occurs twice, git uses the later value. */
export type GitSetting = readonly [key: string, value: string];

/** The only variables that git gets from the server's environment. All others are left out, including secrets and all GIT_ variables. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'SSH_AUTH_SOCK',
  'HTTPS_PROXY',
  'https_proxy',
  'NO_PROXY',
  'no_proxy',
  'SystemRoot',
  'USERPROFILE',
  'APPDATA',
];

const COVENANT = { NAME: 'Covenant', EMAIL: 'covenant@localhost' };

/**
 * Makes git ignore the configuration of the user and the machine, because it can contain programs to run. `git-user.ts` reads the few settings that are
 * needed from there.
 */
const FIXED = {
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  GIT_EDITOR: 'true',
  // GIT_SSH overrides the setting core.sshCommand.
  GIT_SSH: 'ssh',
  GIT_NO_LAZY_FETCH: '1',
  // These names appear in the reflog. The author of each commit is set separately.
  GIT_AUTHOR_NAME: COVENANT.NAME,
  GIT_AUTHOR_EMAIL: COVENANT.EMAIL,
  GIT_COMMITTER_NAME: COVENANT.NAME,
  GIT_COMMITTER_EMAIL: COVENANT.EMAIL,
};

interface GitRun extends Omit<RunOptions, 'env'> {
  /** An undefined value removes a default variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly settings?: readonly GitSetting[];
}

/**
 * All git processes are started here (enforced by test/architecture.unit.test.ts). The environment of git does not inherit from the server's, except for
 * `INHERITED`.
 */
export async function runGitProgram(args: readonly string[], { env = {}, settings = [], ...options }: GitRun): Promise<ProgramResult> {
  const inherited = Object.fromEntries(INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const given = { ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(settings.length) };
  return await runProgram('git', args, { ...options, env: { ...inherited, ...FIXED, [RUN_BY]: THIS_PROCESS, ...given, ...env } });
}
