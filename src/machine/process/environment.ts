import { delimiter, sep } from 'node:path';

const PASSED = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TERM', 'SHELL', 'TMPDIR', 'TZ', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']);
/** Variables that a program on Windows cannot run without. */
const PASSED_ON_WINDOWS = new Set(['SYSTEMROOT', 'SYSTEMDRIVE', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'PATHEXT', 'COMSPEC']);

/**
 * Returns the environment of a child process: the variables that every program needs, plus those that are configured for it. Other variables of the server
 * are not passed on, because they contain tokens.
 */
export function childEnvironment(
  server: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>>,
  platform: string = process.platform,
): Record<string, string> {
  const passes = (name: string) =>
    PASSED.has(name) ||
    name.startsWith('LC_') ||
    name.startsWith('XDG_') ||
    (platform === 'win32' && (name.toUpperCase() === 'PATH' || PASSED_ON_WINDOWS.has(name.toUpperCase())));
  const passed = Object.entries(server).filter((pair): pair is [string, string] => pair[1] !== undefined && passes(pair[0]));
  const { PATH, ...rest } = Object.fromEntries(passed);
  return { ...rest, ...(PATH === undefined ? {} : { PATH: server.npm_execpath ? withoutNpm(PATH) : PATH }), ...own };
}

/**
 * An npm script puts the folders of its own package first in PATH. Removes these folders, because otherwise a child that uses `npx` would run with a
 * different Node version than the user's.
 */
function withoutNpm(path: string): string {
  const ofNpm = [`${sep}node_modules${sep}.bin`, `${sep}node-gyp-bin`];
  return path
    .split(delimiter)
    .filter((folder) => !ofNpm.some((end) => folder.endsWith(end)))
    .join(delimiter);
}
