const PASSED = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TERM', 'SHELL', 'TMPDIR', 'TZ']);
/** What a program needs on Windows to run at all. */
const PASSED_ON_WINDOWS = new Set(['SYSTEMROOT', 'SYSTEMDRIVE', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'PATHEXT', 'COMSPEC']);

/** A child's whole environment: what any program needs, and what its entry gives it. The server's own has tokens, and stays here. */
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
  return { ...Object.fromEntries(passed), ...own };
}
