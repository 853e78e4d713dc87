import { join } from 'node:path';
import type { Launcher } from '../../../clients/client.ts';
import { workspaceId } from '../../../kernel/ids.ts';

export const DEMO_WORKSPACE_ID = workspaceId('demo');
/** The name of the demo's external server. */
export const DEMO_SERVER = 'demo';

/** The folder of the demo's repository. It is inside the home, because a restricted server may write only there. */
export const demoFolder = (home: string): string => join(home, 'demo');

/** The launcher for the demo's agents. It starts the `covenant` program, which follows a script and uses no model. */
export const demoLauncher = (covenant: string): Launcher => ({
  command: process.execPath,
  args: [covenant, 'demo-part', 'agent'],
  env: {},
  pass_env: [],
  prompt: 'file',
  workspace: DEMO_WORKSPACE_ID,
});

/**
 * The command for the demo's external server, which is also the `covenant` program. As soon as the file `changesWith` exists, the
 * server changes one of its tool definitions.
 */
export const demoServer = (covenant: string, changesWith: string) => ({
  command: process.execPath,
  args: [covenant, 'demo-part', 'server', changesWith],
});
