import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bridgeEntry } from '../../../features/core/devices/connections.ts';
import { userHome } from '../../../wire/covibe-home.ts';
import { opencodePlugin } from '../opencode-plugin.ts';
import type { ClientSetup, Setting } from './client.ts';

export const opencode: ClientSetup = {
  name: 'opencode',
  programs: ['opencode'],
  folders: (env) => [join(env.XDG_CONFIG_HOME || join(userHome(env), '.config'), 'opencode'), join(userHome(env), '.opencode')],
  files: (setting) => [
    {
      path: configOf(setting),
      scope: 'repository',
      entries: [{ kind: 'member', what: 'server entry', ...bridgeEntry('opencode', { baseUrl: setting.origin, command: setting.programs.bridge }) }],
    },
    {
      path: join(setting.root, '.opencode/plugins/covibe.js'),
      scope: 'repository',
      entries: [
        {
          kind: 'whole',
          what: 'plugin',
          text: opencodePlugin([...setting.programs.companionArgs, 'hook', '--base-url', setting.origin, 'opencode']),
        },
      ],
    },
  ],
};

/** Whichever is there; it reads both. */
function configOf({ root }: Setting): string {
  const commented = join(root, 'opencode.jsonc');
  return existsSync(commented) ? commented : join(root, 'opencode.json');
}
