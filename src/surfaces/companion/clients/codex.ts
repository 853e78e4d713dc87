import { join } from 'node:path';
import { bridgeEntry } from '../../../features/core/devices/connections.ts';
import { userHome } from '../../../wire/covibe-home.ts';
import type { ClientSetup } from './client.ts';
import { hookEntries } from './hooks.ts';

const home = (env: NodeJS.ProcessEnv): string => env.CODEX_HOME || join(userHome(env), '.codex');

export const codex: ClientSetup = {
  name: 'codex',
  programs: ['codex'],
  folders: (env) => [home(env)],
  files: (setting) => [
    {
      path: join(home(setting.env), 'config.toml'),
      scope: 'machine',
      // Without a folder: it starts the bridge where it works itself, whichever repository that is.
      entries: [{ kind: 'table', what: 'server entry', ...bridgeEntry('codex', { baseUrl: setting.origin, command: setting.programs.bridge }) }],
    },
    {
      // In the repository, not in its home: other repositories are none of our business.
      path: join(setting.root, '.codex/hooks.json'),
      scope: 'repository',
      entries: hookEntries(
        {
          client: 'codex',
          writing: 'Bash|apply_patch|mcp__.*',
          // It allows no more.
          timeouts: { 'session-end': 3 },
          element: ({ matcher, command, timeout }) => ({ ...(matcher !== undefined && { matcher }), hooks: [{ type: 'command', command, timeout }] }),
        },
        setting,
      ),
      note: 'Codex runs these hooks once you have trusted this folder and them: start codex here, then /hooks.',
    },
  ],
};
