import { RUN_BY, THIS_PROCESS } from '../process/holder.ts';
import { type ProgramResult, type RunOptions, runProgram } from '../process/process.ts';

/** A key of git's configuration and its value. Of two with one key the later one counts. */
export type GitSetting = readonly [key: string, value: string];

/** Everything else of the server's environment, its secrets and every GIT_ variable, stays out. */
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

/** Git without the files of the user and of the machine, which name programs too: what is taken from them, `git-user.ts` lists. */
const FIXED = {
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  GIT_EDITOR: 'true',
  // Before core.sshCommand.
  GIT_SSH: 'ssh',
  GIT_NO_LAZY_FETCH: '1',
  // For the reflog; who commits is said for each commit.
  GIT_AUTHOR_NAME: COVENANT.NAME,
  GIT_AUTHOR_EMAIL: COVENANT.EMAIL,
  GIT_COMMITTER_NAME: COVENANT.NAME,
  GIT_COMMITTER_EMAIL: COVENANT.EMAIL,
};

interface GitRun extends Omit<RunOptions, 'env'> {
  /** Undefined: not even what is given otherwise. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly settings?: readonly GitSetting[];
}

/** The only place that starts git (test/architecture.unit.test.ts). Its environment is made here, from nothing. */
export async function runGitProgram(args: readonly string[], { env = {}, settings = [], ...options }: GitRun): Promise<ProgramResult> {
  const inherited = Object.fromEntries(INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const given = { ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(settings.length) };
  return await runProgram('git', args, { ...options, env: { ...inherited, ...FIXED, [RUN_BY]: THIS_PROCESS, ...given, ...env } });
}
