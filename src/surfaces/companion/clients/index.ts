import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientName } from '../../../features/core/devices/connections.ts';
import { hasProgram } from '../../../machine/process/find-program.ts';
import { claudeCode } from './claude-code.ts';
import type { ClientSetup, FileWish } from './client.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';

export const CLIENT_SETUPS: Readonly<Record<ClientName, ClientSetup>> = { 'claude-code': claudeCode, codex, cursor, gemini, opencode };

export const installedClients = (env: NodeJS.ProcessEnv): ClientName[] =>
  Object.values(CLIENT_SETUPS)
    .filter(({ programs, folders }) => programs.some((program) => hasProgram(program, env)) || folders(env).some((folder) => existsSync(folder)))
    .map(({ name }) => name);

/** Where providers and clients leave usage files for the companion. Git is told to look away from all of it. */
export const INBOX = '.covibe/telemetry';

export const inboxFile = (root: string): FileWish => ({
  path: join(root, '.covibe/.gitignore'),
  scope: 'repository',
  entries: [{ kind: 'whole', what: 'inbox', text: '*\n', isDefault: true }],
});
