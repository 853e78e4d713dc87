import { join } from 'node:path';
import { bridgeEntry } from '../../../features/core/devices/connections.ts';
import { userHome } from '../../../wire/covibe-home.ts';
import type { ClientSetup } from './client.ts';
import { hookEntries } from './hooks.ts';

/** Cursor's own name of the folder: it starts servers anywhere, and the file may be shared. */
const FOLDER = '${' + 'workspaceFolder}';

export const cursor: ClientSetup = {
  name: 'cursor',
  programs: ['cursor', 'cursor-agent'],
  folders: (env) => [join(userHome(env), '.cursor'), '/Applications/Cursor.app'],
  files: (setting) => [
    {
      path: join(setting.root, '.cursor/mcp.json'),
      scope: 'repository',
      entries: [{ kind: 'member', what: 'server entry', ...bridgeEntry('cursor', { baseUrl: setting.origin, cwd: FOLDER, command: setting.programs.bridge }) }],
      note: 'Switch the server covibe on in Cursor: Settings, MCP.',
    },
    {
      path: join(setting.root, '.cursor/hooks.json'),
      scope: 'repository',
      entries: [
        { kind: 'member', what: 'version', at: ['version'], value: 1, isDefault: true },
        ...hookEntries(
          {
            client: 'cursor',
            // It runs them at the top of the repository.
            top: '.',
            writing: 'Write|Edit|MultiEdit|StrReplace|EditNotebook|Delete|Shell|MCP:.*',
            element: ({ matcher, command, timeout }) => ({ command, timeout, ...(matcher !== undefined && { matcher }) }),
          },
          setting,
        ),
      ],
    },
  ],
};
