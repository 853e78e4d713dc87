import { join } from 'node:path';
import { userHome } from '../../../wire/covibe-home.ts';
import type { Keeper, ServiceCommand } from './keeper.ts';

const UNIT = 'covibe-watch.service';

/** As one word to systemd, which reads backslashes, quotes and `%` everywhere, and ends with the line. */
const word = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('%', '%%')}"`;
/** In a command line it reads `$` too. */
const argument = (text: string): string => word(text.replaceAll('$', '$$$$'));

const environment = (env: ServiceCommand['env']): string =>
  Object.entries(env)
    .map(([name, value]) => `Environment=${word(`${name}=${value}`)}\n`)
    .join('');

/** Units of one's own, without any right over the machine. */
export const systemd: Keeper = {
  name: 'systemd',
  program: 'systemctl',
  file: (env) => join(env.XDG_CONFIG_HOME || join(userHome(env), '.config'), 'systemd', 'user', UNIT),
  text: ({ program, args, env }) => `# Written by covibe-local setup; covibe-local setup --remove takes it out.
[Unit]
Description=Covenant companion: usage counters and liveness of the agents on this machine

[Service]
ExecStart=${[program, ...args].map(argument).join(' ')}
${environment(env)}Restart=always
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
