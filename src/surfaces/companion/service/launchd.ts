import { join } from 'node:path';
import { userHome } from '../../../wire/covibe-home.ts';
import type { Keeper, ServiceCommand } from './keeper.ts';

const LABEL = 'covibe.watch';
const DOMAIN = `gui/${process.getuid?.() ?? 0}`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(/[&<>]/g, (mark) => ENTITIES[mark] ?? mark);

function environment(env: ServiceCommand['env']): string {
  const lines = Object.entries(env).map(([name, value]) => `    <key>${name}</key>\n    <string>${escaped(value)}</string>\n`);
  return lines.length === 0 ? '' : `  <key>EnvironmentVariables</key>\n  <dict>\n${lines.join('')}  </dict>\n`;
}

/** An agent of the signed-in person, on macOS. */
export const launchd: Keeper = {
  name: 'launchd',
  program: 'launchctl',
  file: (env) => join(userHome(env), 'Library', 'LaunchAgents', `${LABEL}.plist`),
  text: ({ program, args, env }) => `<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by covibe-local setup, which can take it out again. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${[program, ...args].map((each) => `    <string>${escaped(each)}</string>`).join('\n')}
  </array>
${environment(env)}  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
</dict>
</plist>
`,
  probe: ['print', DOMAIN],
  // A service that is known is not read again: it has to go before it can come.
  start: (file, changed) =>
    changed
      ? [{ args: ['bootout', `${DOMAIN}/${LABEL}`], mayFail: true }, { args: ['bootstrap', DOMAIN, file] }]
      : [{ args: ['bootstrap', DOMAIN, file], mayFail: true }, { args: ['print', `${DOMAIN}/${LABEL}`] }],
  stop: () => [{ args: ['bootout', `${DOMAIN}/${LABEL}`], mayFail: true }],
  forget: [],
  isRunning: ['print', `${DOMAIN}/${LABEL}`],
  restart: `launchctl kickstart -k ${DOMAIN}/${LABEL}`,
};
