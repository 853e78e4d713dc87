import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { findServer } from '../client.ts';
import { CliError, type Command } from '../command.ts';

export const backupCommands: readonly Command[] = [
  {
    name: 'backup',
    summary: 'A consistent copy of the database, taken while the server works.',
    positionals: ['[FILE]'],
    async run(invocation) {
      const { home } = loadConfig(invocation.env);
      const path = resolve(invocation.cwd, invocation.positionals[0] ?? join(home, 'backups', `covenant-${Date.now()}.db`));
      const made = await (await invocation.client()).action('server.backup', { path });
      return { json: { kind: 'backup_made', ...made }, text: `${made.path} (${made.bytes} bytes)` };
    },
  },
  {
    name: 'restore',
    summary: 'Put a backup in the place of the database. What was there is kept beside it.',
    positionals: ['FILE'],
    async run(invocation) {
      const config = loadConfig(invocation.env);
      if (config.database_url) throw new CliError('UNSUPPORTED', 'This home keeps its data in PostgreSQL.', 'Restore it with pg_restore.');
      const running = await findServer(invocation.env);
      if (running) throw new CliError('SERVER_RUNNING', `A server of this home runs at ${running.url}.`, 'Stop it, restore, start it again.');
      const from = resolve(invocation.cwd, invocation.positionals[0] as string);
      await checkBackup(from);
      const kept = putInPlace(from, config.database_path);
      return {
        json: { kind: 'restored', path: config.database_path, kept: kept ?? null },
        text: `Restored ${from}.${kept ? ` What was there is at ${kept}.` : ''}`,
      };
    },
  },
];

/** Nothing is replaced by a file that is not a sound Covenant database which this program can read. */
async function checkBackup(path: string): Promise<void> {
  if (!existsSync(path)) throw new CliError('FILE_NOT_FOUND', `There is no file ${path}.`, 'Give the path of a backup.');
  const { checkDatabaseFile } = await import('../../../storage/inspect.ts');
  const problem = await checkDatabaseFile(path);
  if (problem) throw new CliError('BACKUP_UNUSABLE', `${path}: ${problem}`, 'Give the path of another backup.');
}

function putInPlace(from: string, database: string): string | undefined {
  mkdirSync(dirname(database), { recursive: true, mode: 0o700 });
  const fresh = `${database}.restoring`;
  copyFileSync(from, fresh);
  let kept: string | undefined;
  if (existsSync(database)) {
    kept = join(dirname(database), 'backups', `replaced-${Date.now()}.db`);
    mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
    for (const suffix of ['', '-wal', '-shm']) {
      if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
    }
  }
  for (const suffix of ['-wal', '-shm']) rmSync(database + suffix, { force: true });
  renameSync(fresh, database);
  return kept;
}
