import { join } from 'node:path';
import type { Launcher } from '../../../clients/client.ts';
import { workspaceId } from '../../../kernel/ids.ts';

export const DEMO_WORKSPACE_ID = workspaceId('demo');
/** The external server that the demo brings along, as it is called. */
export const DEMO_SERVER = 'demo';

/** Where the demo's repository is: below the home, so that a server that may touch few folders may touch this one. */
export const demoFolder = (home: string): string => join(home, 'demo');

/** The agents of the demo are this program itself, with a script in place of a model. */
export const demoLauncher = (covenant: string): Launcher => ({
  command: process.execPath,
  args: [covenant, 'demo-part', 'agent'],
  env: {},
  pass_env: [],
  prompt: 'file',
  workspace: DEMO_WORKSPACE_ID,
});

/** So is its external server, whose definition changes when there is a file at this path. */
export const demoServer = (covenant: string, changesWith: string) => ({
  command: process.execPath,
  args: [covenant, 'demo-part', 'server', changesWith],
});
