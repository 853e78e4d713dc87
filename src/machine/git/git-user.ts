import { tmpdir } from 'node:os';
import { type GitSetting, runGitProgram } from './git-program.ts';

/** Settings from the user's git configuration that the server uses too when it runs git. */
export interface UserSettings {
  /** Settings for work on this machine. None of them can make git run a program. */
  readonly local: readonly GitSetting[];
  /** Settings for connections to other machines, such as proxies and certificates. */
  readonly network: readonly GitSetting[];
  /** The user's `insteadOf` and `pushInsteadOf` rules, which replace the beginning of an address. */
  readonly rewrites: readonly AddressRewrite[];
  readonly name: string | undefined;
}

export interface AddressRewrite {
  readonly from: string;
  readonly to: string;
  readonly pushOnly: boolean;
}

const LOCAL = /^(safe\.directory|core\.(excludesfile|autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|longpaths|trustctime|checkstat))$/;
const NETWORK = /^http\.(proxy|proxyauthmethod|sslcainfo|sslcapath|sslbackend|sslverify|version|postbuffer)$/;
const REWRITE = /^url\.(.*)\.(push)?insteadof$/s;

/** A git folder that cannot exist. */
const NO_REPOSITORY = '/dev/null/none';

const FRESH_MS = 30_000;
const OPTIONS = { cwd: tmpdir(), timeoutMs: 10_000, maxOutputBytes: 4 * 1024 * 1024 };
const FILES = ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM', 'HOME', 'XDG_CONFIG_HOME'];

/** The environment variables that tell git where the configuration of the user and the machine is. */
const ownFiles = (): Record<string, string | undefined> => Object.fromEntries(FILES.map((name) => [name, process.env[name]]));

let read: { readonly of: string; readonly until: number; readonly settings: Promise<UserSettings> } | undefined;

/** Reads the settings from the files of the user and the machine, never from a repository. */
export async function userSettings(): Promise<UserSettings> {
  const env = ownFiles();
  const of = JSON.stringify(env);
  const now = performance.now();
  if (read === undefined || read.of !== of || read.until < now) {
    const settings = readUserSettings(env);
    read = { of, until: now + FRESH_MS, settings };
    // A failed read is not cached.
    settings.catch(() => {
      read = undefined;
    });
  }
  return await read.settings;
}

async function readUserSettings(env: Record<string, string | undefined>): Promise<UserSettings> {
  // GIT_DIR points to a folder that does not exist, so that git does not use a repository that contains the server's working folder.
  const { code, stdout } = await runGitProgram(['config', '--list', '-z'], { ...OPTIONS, env: { ...env, GIT_DIR: NO_REPOSITORY } });
  const entries = (code === 0 ? stdout : '').split('\0').flatMap((entry): GitSetting[] => {
    const end = entry.indexOf('\n');
    return end < 0 ? [] : [[entry.slice(0, end), entry.slice(end + 1)]];
  });
  return {
    local: entries.filter(([key]) => LOCAL.test(key)),
    network: entries.filter(([key]) => NETWORK.test(key)),
    rewrites: entries.flatMap(([key, from]) => {
      const [, to, push] = REWRITE.exec(key) ?? [];
      return to === undefined ? [] : [{ from, to, pushOnly: push !== undefined }];
    }),
    name: entries.findLast(([key]) => key === 'user.name')?.[1],
  };
}

/** Returns the values that a key has for git in this folder, including the user's configuration. Reading the configuration does not run any program. */
export async function configuredFor(folder: string, key: string): Promise<string[]> {
  const args = ['-C', folder, 'config', '-z', '--type=path', '--get-all', key];
  const { code, stdout } = await runGitProgram(args, { ...OPTIONS, env: ownFiles() });
  return code === 0 ? stdout.split('\0').slice(0, -1) : [];
}
