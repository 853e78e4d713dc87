import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * The folder with the server's data. The function has its own file, so that commands that only call a running server do not load
 * the schema library of config.ts.
 */
export const homeFolder = (env: NodeJS.ProcessEnv): string => resolve(env.COVENANT_HOME || join(homedir(), '.covenant'));
