import { join, resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { call } from '../call.ts';
import type { CliCommand } from '../command.ts';

export const backupCommand: CliCommand = {
  name: 'backup',
  summary: 'A consistent copy of the database, taken while the server works.',
  positionals: ['[FILE]'],
  async run(invocation) {
    const { home } = loadConfig(invocation.env);
    const path = resolve(invocation.cwd, invocation.positionals[0] ?? join(home, 'backups', `covenant-${Date.now()}.db`));
    const made = await call(invocation, 'server.backup', { path });
    return { json: { kind: 'backup_made', ...made }, text: `${made.path} (${made.bytes} bytes)` };
  },
};
