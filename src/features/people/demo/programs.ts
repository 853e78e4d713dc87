import type { Launcher } from '../../review/instances/index.ts';
import { DEMO_WORKSPACE_ID } from './tools.ts';

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
