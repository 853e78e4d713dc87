import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folder of a server's data. Apart from the configuration, whose schema library a command that asks a running server never needs. */
export const homeFolder = (env: NodeJS.ProcessEnv): string => resolve(env.COVENANT_HOME || join(homedir(), '.covenant'));
