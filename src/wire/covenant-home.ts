import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folder of a server's data. In a file of its own, because a command for a running server does not need the schema library of config.ts. */
export const homeFolder = (env: NodeJS.ProcessEnv): string => resolve(env.COVENANT_HOME || join(homedir(), '.covenant'));
