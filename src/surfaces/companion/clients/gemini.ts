import { join } from 'node:path';
import { bridgeEntry } from '../../../features/core/devices/connections.ts';
import { userHome } from '../../../wire/covibe-home.ts';
import type { ClientSetup } from './client.ts';
import { hookEntries } from './hooks.ts';

export const gemini: ClientSetup = {
  name: 'gemini',
  programs: ['gemini'],
  folders: (env) => [join(userHome(env), '.gemini')],
  files: (setting) => [
    {
      path: join(setting.root, '.gemini/settings.json'),
      scope: 'repository',
      entries: [
        { kind: 'member', what: 'server entry', ...bridgeEntry('gemini', { baseUrl: setting.origin, command: setting.programs.bridge }) },
        ...hookEntries(
          {
            client: 'gemini',
            top: '"$GEMINI_PROJECT_DIR"',
            writing: 'write_file|replace|run_shell_command|mcp_.*',
            element: ({ matcher, command, timeout, event }) => ({
              ...(matcher !== undefined && { matcher }),
              hooks: [{ type: 'command', name: `covibe ${event}`, command, timeout: timeout * 1000 }],
            }),
          },
          setting,
        ),
      ],
      note: 'Gemini CLI uses them in a folder that it trusts: it asks when it is started here.',
    },
  ],
};
