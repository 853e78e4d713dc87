import { join, resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { call } from '../call.ts';
import type { CliCommand } from '../command.ts';

export const backupCommand: CliCommand = {
  name: 'backup',
  summary: 'Copy the database while the server runs.',
  description: 'The copy is consistent, and `covenant restore` can restore it. Use pg_dump to back up PostgreSQL.',
  arguments: [{ name: 'FILE', description: 'The path of a new file. Default: backups/covenant-TIME.db in the home of the server.', optional: true }],
  examples: ['backup', 'backup /mnt/backups/covenant.db'],
  async run(invocation) {
    const { home } = loadConfig(invocation.env);
    const path = resolve(invocation.cwd, invocation.positionals[0] ?? join(home, 'backups', `covenant-${Date.now()}.db`));
    const made = await call(invocation, 'server.backup', { path });
    return { json: { kind: 'backup_made', ...made }, text: `${made.path} (${made.bytes} bytes)` };
  },
};
