import { join } from 'node:path';
import { userHome } from '../../../wire/covibe-home.ts';

/** The command that the service runs, without a shell. */
interface ServiceCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Variables that the service needs in addition to the variables of every service. */
  readonly env: Readonly<Record<string, string>>;
}

/** An init system that can run services of the signed-in person. */
export interface InitSystem {
  readonly name: string;
  readonly program: string;
  file(env: NodeJS.ProcessEnv): string;
  text(command: ServiceCommand): string;
  /** The arguments of a command that succeeds if the init system works for this person. The command fails in a container and in some remote shells. */
  readonly probe: readonly string[];
  /** The steps that start the service, or restart it if `changed`. */
  start(file: string, changed: boolean): readonly ServiceStep[];
  stop(file: string): readonly ServiceStep[];
  readonly forget: readonly ServiceStep[];
  readonly isRunning: readonly string[];
  /** The command with which a person can restart the service. */
  readonly restart: string;
}

export interface ServiceStep {
  readonly args: readonly string[];
  /** A failure of this step is ignored, for example because there was nothing to stop. */
  readonly mayFail?: true;
}

const LABEL = 'covibe.watch';
const DOMAIN = `gui/${process.getuid?.() ?? 0}`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(/[&<>]/g, (mark) => ENTITIES[mark] ?? mark);

function plistEnvironment(env: ServiceCommand['env']): string {
  const lines = Object.entries(env).map(([name, value]) => `    <key>${name}</key>\n    <string>${escaped(value)}</string>\n`);
  return lines.length === 0 ? '' : `  <key>EnvironmentVariables</key>\n  <dict>\n${lines.join('')}  </dict>\n`;
}

/** A launch agent of the signed-in person, on macOS. */
const launchd: InitSystem = {
  name: 'launchd',
  program: 'launchctl',
  file: (env) => join(userHome(env), 'Library', 'LaunchAgents', `${LABEL}.plist`),
  text: ({ program, args, env }) => `<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by covibe-local setup, which can also remove it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${[program, ...args].map((each) => `    <string>${escaped(each)}</string>`).join('\n')}
  </array>
${plistEnvironment(env)}  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
</dict>
</plist>
`,
  probe: ['print', DOMAIN],
  // launchd does not reread the file of a loaded service, so the service has to be unloaded first.
  start: (file, changed) =>
    changed
      ? [{ args: ['bootout', `${DOMAIN}/${LABEL}`], mayFail: true }, { args: ['bootstrap', DOMAIN, file] }]
      : [{ args: ['bootstrap', DOMAIN, file], mayFail: true }, { args: ['print', `${DOMAIN}/${LABEL}`] }],
  stop: () => [{ args: ['bootout', `${DOMAIN}/${LABEL}`], mayFail: true }],
  forget: [],
  isRunning: ['print', `${DOMAIN}/${LABEL}`],
  restart: `launchctl kickstart -k ${DOMAIN}/${LABEL}`,
};

const UNIT = 'covibe-watch.service';

/** Quotes a word for systemd. In every word systemd interprets backslashes, quotes and `%`, and a newline ends the word. */
const word = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('%', '%%')}"`;
/** Quotes a word of a command line, in which systemd also interprets `$`. */
const argument = (text: string): string => word(text.replaceAll('$', '$$$$'));

const unitEnvironment = (env: ServiceCommand['env']): string =>
  Object.entries(env)
    .map(([name, value]) => `Environment=${word(`${name}=${value}`)}\n`)
    .join('');

/** A systemd user unit, which needs no administrator rights. */
const systemd: InitSystem = {
  name: 'systemd',
  program: 'systemctl',
  file: (env) => join(env.XDG_CONFIG_HOME || join(userHome(env), '.config'), 'systemd', 'user', UNIT),
  text: ({ program, args, env }) => `# Written by covibe-local setup; covibe-local setup --remove deletes it.
[Unit]
Description=Covenant companion: usage counters and liveness of the agents on this machine

[Service]
ExecStart=${[program, ...args].map(argument).join(' ')}
${unitEnvironment(env)}Restart=always
RestartSec=10

[Install]
WantedBy=default.target
`,
  probe: ['--user', 'show-environment'],
  start: (_, changed) => [
    ...(changed ? [{ args: ['--user', 'daemon-reload'] }] : []),
    { args: ['--user', 'enable', '--now', UNIT] },
    ...(changed ? [{ args: ['--user', 'restart', UNIT] }] : []),
  ],
  stop: () => [{ args: ['--user', 'disable', '--now', UNIT], mayFail: true }],
  forget: [{ args: ['--user', 'daemon-reload'], mayFail: true }],
  isRunning: ['--user', 'is-active', '--quiet', UNIT],
  restart: `systemctl --user restart ${UNIT}`,
};

export const initSystemOf = (platform: NodeJS.Platform): InitSystem | undefined =>
  platform === 'darwin' ? launchd : platform === 'win32' ? undefined : systemd;
