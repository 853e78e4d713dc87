import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../../../config.ts';
import { CliError, type Command } from '../command.ts';
import { refuseWhileServed } from '../served.ts';

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
    local: true,
    summary: 'Put a backup in the place of the database. What was there is kept beside it.',
    positionals: ['FILE'],
    async run(invocation) {
      const config = loadConfig(invocation.env);
      if (config.database_url) throw new CliError('UNSUPPORTED', 'This home keeps its data in PostgreSQL.', 'Restore it with pg_restore.');
      await refuseWhileServed(invocation.env, config.home, 'restore');
      const from = resolve(invocation.cwd, invocation.positionals[0] as string);
      await checkBackup(from);
      const kept = await putInPlace(from, config.database_path);
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

/**
 * The database is there at every moment: the old one gets a second name, then the new one takes its first. VACUUM INTO
 * makes the copy, because what is restored may have a log beside it that a copy of the file alone would leave behind.
 */
async function putInPlace(from: string, database: string): Promise<string | undefined> {
  const { claimDatabaseFile } = await import('../../../storage/inspect.ts');
  const { copyDatabase } = await import('../../../storage/backup.ts');
  const folder = dirname(database);
  const fresh = `${database}.restoring`;
  rmSync(fresh, { force: true });
  await copyDatabase(from, fresh);
  let kept: string | undefined;
  if (existsSync(database)) {
    const problem = claimDatabaseFile(database);
    if (problem) {
      rmSync(fresh, { force: true });
      throw new CliError('DATABASE_IN_USE', `${database}: ${problem}`, 'Stop the program that has it open.');
    }
    kept = join(folder, 'backups', `replaced-${Date.now()}.db`);
    mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
    linkSync(database, kept);
    // A log that could not be merged belongs to the file that is put aside.
    for (const suffix of ['-wal', '-shm']) if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  renameSync(fresh, database);
  const entry = openSync(folder, 'r');
  fsyncSync(entry);
  closeSync(entry);
  return kept;
}
