import { RUN_BY, THIS_PROCESS } from '../process/holder.ts';
import { type ProgramResult, type RunOptions, runProgram } from '../process/process.ts';

/** A git configuration key and its value. If a key occurs twice, the later value counts. */
export type GitSetting = readonly [key: string, value: string];

/** Everything else in the server's environment, including its secrets and every GIT_ variable, is left out. */
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

/** Git without the configuration of the user and the machine, which can also name programs. The few settings taken from there are in `git-user.ts`. */
const FIXED = {
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  GIT_EDITOR: 'true',
  // Takes precedence over core.sshCommand.
  GIT_SSH: 'ssh',
  GIT_NO_LAZY_FETCH: '1',
  // For the reflog. The author of each commit is set separately.
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

/** The only place that starts git (test/architecture.unit.test.ts). It builds the environment from scratch. */
export async function runGitProgram(args: readonly string[], { env = {}, settings = [], ...options }: GitRun): Promise<ProgramResult> {
  const inherited = Object.fromEntries(INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const given = { ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(settings.length) };
  return await runProgram('git', args, { ...options, env: { ...inherited, ...FIXED, [RUN_BY]: THIS_PROCESS, ...given, ...env } });
}
